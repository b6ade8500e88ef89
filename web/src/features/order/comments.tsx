/** Comments on a diff: drafts, pending ones, and those that were sent. */

import { CircleCheck, Clock, X } from "lucide-react";
import { Button } from "@/components/ui/button";
import { Textarea } from "@/components/ui/field";
import { useDraft } from "@/lib/draft";
import { type Comment, type SentComment, whereOf } from "./review";

const LOOK = "m-2 rounded-lg border bg-popover p-3 font-sans text-sm text-foreground";

type DraftProps = {
  name: string;
  place: Omit<Comment, "text">;
  onSave: (comment: Comment) => void;
  onCancel: () => void;
};

export function DraftComment({ name, place, onSave, onCancel }: DraftProps) {
  // Local to this component, so that typing does not re-render the diff.
  const [text, setText] = useDraft(name, "");
  const end = (then: () => void) => {
    setText("");
    then();
  };
  return (
    <form
      aria-label={`Comment on ${whereOf(place)}`}
      className={LOOK}
      onSubmit={(event) => {
        event.preventDefault();
        if (text.trim()) end(() => onSave({ ...place, text }));
      }}
    >
      <p className="mb-2 text-xs text-muted-foreground">
        {place.line === null ? "On the whole file" : `On line ${place.line}`}
      </p>
      <Textarea
        autoFocus
        aria-label="Comment"
        placeholder="What should change here?"
        value={text}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          event.stopPropagation();
          if (event.key === "Escape") end(onCancel);
        }}
      />
      <div className="mt-2 flex justify-end gap-2">
        <Button size="sm" onClick={() => end(onCancel)}>
          Cancel
        </Button>
        <Button size="sm" look="primary" type="submit" disabled={!text.trim()}>
          Add comment
        </Button>
      </div>
    </form>
  );
}

export function WaitingComment({ comment, onRemove }: { comment: Comment; onRemove: () => void }) {
  return (
    <div className={`${LOOK} flex items-start gap-2`}>
      <p className="min-w-0 flex-1 break-words whitespace-pre-wrap">{comment.text}</p>
      <Button size="sm" look="quiet" aria-label="Remove the comment" onClick={onRemove}>
        <X />
      </Button>
    </div>
  );
}

export function SentCommentView({ comment }: { comment: SentComment }) {
  const done = comment.state.startsWith("Addressed");
  return (
    <div className={LOOK}>
      <p className="break-words whitespace-pre-wrap">{comment.text}</p>
      <p className="mt-1.5 flex items-center gap-1.5 text-xs text-muted-foreground">
        {done ? (
          <CircleCheck aria-hidden className="size-3.5 text-success" />
        ) : (
          <Clock aria-hidden className="size-3.5" />
        )}
        {comment.state}
        {comment.line !== null && <span>· on line {comment.line} when sent</span>}
      </p>
    </div>
  );
}
