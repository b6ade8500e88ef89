/** The command palette. */

import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Command } from "cmdk";
import { CornerDownLeft, FileText, Moon, MousePointerClick, Plus, Sun } from "lucide-react";
import { useState } from "react";
import { ordersQuery } from "@/api/queries";
import { StatusPill } from "@/components/status-pill";
import { repositoryName } from "@/lib/format";
import { chooseTheme, useIsDark } from "@/lib/theme";
import { Kbd } from "./help";
import { PLACES } from "./keys";
import { offers, pressKey } from "./moves";

const ITEM = "flex items-center gap-2.5 rounded-md px-2.5 py-2 data-[selected=true]:bg-accent";
const GROUP =
  "[&_[cmdk-group-heading]]:px-2.5 [&_[cmdk-group-heading]]:pt-3 [&_[cmdk-group-heading]]:pb-1 [&_[cmdk-group-heading]]:text-xs [&_[cmdk-group-heading]]:text-muted-foreground";

export function Palette({ onClose, onHelp }: { onClose: () => void; onHelp: () => void }) {
  const navigate = useNavigate();
  const dark = useIsDark();
  // Read once: behind the palette the page's controls are hidden.
  const [here] = useState(offers);
  const { data } = useQuery(ordersQuery({ limit: 50, sort: "-updated_at" }));
  const pick = (act: () => void) => () => {
    onClose();
    act();
  };
  return (
    <Command.Dialog
      open
      onOpenChange={onClose}
      label="Command palette"
      loop
      overlayClassName="fixed inset-0 z-40 bg-black/40"
      contentClassName="fixed top-[12vh] left-1/2 z-50 w-[calc(100vw-2rem)] max-w-xl -translate-x-1/2 overflow-hidden rounded-xl border bg-popover shadow-xl"
    >
      <Command.Input
        placeholder="Search or run a command…"
        className="w-full border-b bg-transparent px-4 py-3.5 outline-none placeholder:text-muted-foreground"
      />
      <Command.List tabIndex={0} className="max-h-[50vh] overflow-y-auto p-1.5">
        <Command.Empty className="px-4 py-6 text-center text-muted-foreground">No matches.</Command.Empty>
        <Command.Group heading="Actions" className={GROUP}>
          <Command.Item className={ITEM} onSelect={pick(() => void navigate({ to: "/" }))}>
            <Plus className="size-4" /> New order
          </Command.Item>
          <Command.Item className={ITEM} onSelect={pick(() => chooseTheme(dark ? "light" : "dark"))}>
            {dark ? <Sun className="size-4" /> : <Moon className="size-4" />} {dark ? "Light" : "Dark"} theme
          </Command.Item>
          <Command.Item className={ITEM} onSelect={pick(onHelp)}>
            <FileText className="size-4" /> Keyboard shortcuts
          </Command.Item>
        </Command.Group>
        {here.length > 0 && (
          <Command.Group heading="On this page" className={GROUP}>
            {here.map(({ key, name }) => (
              <Command.Item
                key={key}
                value={`here ${name}`}
                className={ITEM}
                onSelect={pick(() => pressKey(key))}
              >
                <MousePointerClick className="size-4" /> <span className="flex-1">{name}</span>
                <Kbd>{key.toUpperCase()}</Kbd>
              </Command.Item>
            ))}
          </Command.Group>
        )}
        <Command.Group heading="Go to" className={GROUP}>
          {PLACES.map(({ to, name, key }) => (
            <Command.Item
              key={to}
              value={`go ${name}`}
              className={ITEM}
              onSelect={pick(() => void navigate({ to }))}
            >
              <CornerDownLeft className="size-4" /> <span className="flex-1">{name}</span>
              <Kbd>{`G ${key.toUpperCase()}`}</Kbd>
            </Command.Item>
          ))}
        </Command.Group>
        <Command.Group heading="Orders" className={GROUP}>
          {data?.agent_work_orders.map((order) => (
            <Command.Item
              key={order.agent_work_order_id}
              value={`${order.title} ${order.agent_work_order_id} ${repositoryName(order.repository_url)}`}
              className={ITEM}
              onSelect={pick(
                () => void navigate({ to: "/orders/$id", params: { id: order.agent_work_order_id } }),
              )}
            >
              <span className="min-w-0 flex-1 truncate">
                {order.title}
                <span className="ml-2 text-xs text-muted-foreground">
                  {repositoryName(order.repository_url)}
                </span>
              </span>
              <StatusPill status={order.status} />
            </Command.Item>
          ))}
        </Command.Group>
      </Command.List>
    </Command.Dialog>
  );
}
