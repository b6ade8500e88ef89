/** What the order changed so far. Comments on lines are collected and go to the agent as one prompt. */

import { useQuery } from "@tanstack/react-query";
import { FileDiff, Send, X } from "lucide-react";
import { useCallback, useState } from "react";
import type { Order } from "@/api/client";
import { diffQuery } from "@/api/queries";
import DiffView, { type Place } from "@/components/diff/diff-view";
import { Empty, SkeletonRows, Trouble } from "@/components/feedback";
import { Button } from "@/components/ui/button";
import { Input, Textarea } from "@/components/ui/field";
import type { Story } from "@/events/story";
import { useDraft } from "@/lib/draft";
import { plural } from "@/lib/format";
import { useStored } from "@/lib/stored";
import { useControl } from "./use-control";

export type Comment = Place & { text: string };
export default function ChangesPanel({ order, story: _ }: { order: Order; story: Story }) {
  const id = order.agent_work_order_id;
  const { data, error, refetch } = useQuery(diffQuery(id));
  const { say } = useControl(id);
  const [comments, setComments] = useStored<Comment[]>(`comments.${id}`, []);
  const [draft, setDraft] = useDraft<Comment | null>(`comment.${id}`, null);
  const begin = useCallback((place: Place) => setDraft({ ...place, text: "" }), [setDraft]);
  const saved = comments.map((comment) => ({
    ...comment,
    content: (
      <SavedComment
        comment={comment}
        onRemove={() => setComments(comments.filter((one) => one !== comment))}
      />
    ),
  }));
  const begun = draft && {
    ...draft,
    content: (
      <DraftComment
        comment={draft}
        onChange={setDraft}
        onCancel={() => setDraft(null)}
        onSave={(made) => {
          setComments([...comments, made]);
          setDraft(null);
        }}
      />
    ),
  };

  if (error && !data) return <Trouble fault={error} onRetry={() => void refetch()} />;
  if (data === undefined) return <SkeletonRows rows={6} className="m-4 h-8" />;
  if (!data) {
    return (
      <Empty icon={FileDiff} title="No changes yet">
        The diff appears with the first commit and grows with each one after it.
      </Empty>
    );
  }
  const send = () =>
    say.mutate({ text: promptOf(comments), mode: "work" }, { onSuccess: () => setComments([]) });
  return (
    <div className="p-4 pb-20">
      <DiffView patch={data} notes={begun ? [...saved, begun] : saved} onComment={begin} />
      {comments.length > 0 && (
        <div className="sticky bottom-3 mt-3 flex items-center gap-3 rounded-lg border bg-popover px-4 py-2.5 shadow-lg">
          <span className="flex-1 font-medium">{plural(comments.length, "comment")}</span>
          <Button size="sm" look="quiet" onClick={() => setComments([])}>
            Discard
          </Button>
          <Button size="sm" look="primary" disabled={say.isPending} onClick={send}>
            <Send /> Send to agent
          </Button>
        </div>
      )}
    </div>
  );
}

/** All comments as one prompt, each with the place it is about. */
export function promptOf(comments: Comment[]): string {
  const sorted = comments.toSorted((a, b) => a.file.localeCompare(b.file) || a.line - b.line);
  const told = sorted.map(({ file, line, side, text }) => {
    const where = side === "deletions" ? `${file}:${line} (removed line)` : `${file}:${line}`;
    return `- ${where}\n  ${text.trim().replaceAll("\n", "\n  ")}`;
  });
  return `Review comments on the changes so far. Take each of them up:\n\n${told.join("\n")}`;
}

type DraftProps = {
  comment: Comment;
  onChange: (comment: Comment) => void;
  onSave: (comment: Comment) => void;
  onCancel: () => void;
};

function DraftComment({ comment, onChange, onSave, onCancel }: DraftProps) {
  const { text } = comment;
  const [line, setLine] = useState(String(comment.line));
  return (
    <form
      className="m-2 rounded-lg border bg-popover p-3 font-sans text-sm text-foreground shadow-sm"
      onSubmit={(event) => {
        event.preventDefault();
        if (text.trim()) onSave({ ...comment, text, line: Number(line) || comment.line });
      }}
    >
      <label htmlFor="comment-line" className="mb-2 flex items-center gap-2 text-xs text-muted-foreground">
        Line
        <Input
          id="comment-line"
          inputMode="numeric"
          value={line}
          onChange={(event) => setLine(event.target.value.replace(/\D/g, ""))}
          className="h-6 w-16 px-2 text-xs"
        />
      </label>
      <Textarea
        autoFocus
        aria-label="Comment"
        placeholder="What should be different here?"
        value={text}
        onChange={(event) => onChange({ ...comment, text: event.target.value })}
        onKeyDown={(event) => {
          event.stopPropagation();
          if (event.key === "Escape") onCancel();
        }}
      />
      <div className="mt-2 flex justify-end gap-2">
        <Button size="sm" onClick={onCancel}>
          Back
        </Button>
        <Button size="sm" look="primary" type="submit" disabled={!text.trim()}>
          Add comment
        </Button>
      </div>
    </form>
  );
}

function SavedComment({ comment, onRemove }: { comment: Comment; onRemove: () => void }) {
  return (
    <div className="m-2 flex items-start gap-2 rounded-lg border bg-popover p-3 font-sans text-sm text-foreground">
      <p className="min-w-0 flex-1 whitespace-pre-wrap">{comment.text}</p>
      <Button size="sm" look="quiet" aria-label="Remove the comment" onClick={onRemove}>
        <X />
      </Button>
    </div>
  );
}
