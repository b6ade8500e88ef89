import { Bell, BellOff, Inbox } from "lucide-react";
import { Empty, SkeletonRows } from "@/components/feedback";
import { Card, Page } from "@/components/page";
import { Button } from "@/components/ui/button";
import { toast } from "@/components/ui/toast";
import { useStored } from "@/lib/stored";
import { EntryView } from "./entry";
import { type Reason, useInbox } from "./use-inbox";
import { askForNotices, REASONS } from "./use-notices";

const ORDER: Reason[] = ["approval", "budget", "environment", "failure", "review", "draft"];

export function InboxPage() {
  const { entries, isLoading, dismiss } = useInbox();
  return (
    <Page title="Inbox" note="Everything that needs your attention" actions={<NoticeSwitch />}>
      {isLoading && !entries.length && <SkeletonRows rows={3} />}
      {!isLoading && !entries.length && (
        <Card>
          <Empty icon={Inbox} title="All clear">
            Approvals, failures and pull requests appear here.
          </Empty>
        </Card>
      )}
      {ORDER.map((reason) => {
        const group = entries.filter((entry) => entry.reason === reason);
        if (!group.length) return null;
        return (
          <section key={reason} className="mb-8">
            <h2 className="mb-2 text-xs font-medium tracking-wide text-muted-foreground uppercase">
              {REASONS[reason]}
            </h2>
            <div className="flex flex-col gap-2">
              {group.map((entry) => (
                <EntryView
                  key={entry.order.agent_work_order_id}
                  entry={entry}
                  onDismiss={() => dismiss(entry.order)}
                />
              ))}
            </div>
          </section>
        );
      })}
    </Page>
  );
}

function NoticeSwitch() {
  const [wanted, setWanted] = useStored("notices", false);
  const turnOn = async () => {
    const allowed = await askForNotices();
    setWanted(allowed);
    if (!allowed) toast("The browser blocks notifications", "Allow them for this site in its settings.");
  };
  return (
    <Button size="sm" aria-pressed={wanted} onClick={() => (wanted ? setWanted(false) : void turnOn())}>
      {wanted ? <Bell /> : <BellOff />} {wanted ? "Notifications on" : "Notify me"}
    </Button>
  );
}
