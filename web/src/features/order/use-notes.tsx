/** The notes in a diff: sent comments, pending ones, and the draft. */

import { useMemo } from "react";
import type { Note, Place } from "@/components/diff/diff-view";
import type { Transcript } from "@/events/transcript";
import { useDraft } from "@/lib/draft";
import { useStored } from "@/lib/stored";
import { DraftComment, SentCommentView, WaitingComment } from "./comments";
import { type Comment, type SentComment, sentIn } from "./review";

export function useNotes(id: string, transcript: Transcript) {
  const [comments, setComments] = useStored<Comment[]>(`comments.${id}`, []);
  const [draft, begin] = useDraft<Place | null>(`comment.${id}`, null);
  // Compared by value: the transcript changes with every event, the sent comments rarely do.
  const serialized = JSON.stringify(sentIn(transcript));
  const sent = useMemo(() => JSON.parse(serialized) as SentComment[], [serialized]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: to set comments is the same every time
  const notes = useMemo(() => {
    const waiting = comments.map((comment, index) => ({
      ...comment,
      key: `waiting ${index}`,
      content: (
        <WaitingComment
          comment={comment}
          onRemove={() => setComments(comments.filter((one) => one !== comment))}
        />
      ),
    }));
    const shown: Note[] = [
      ...sent.map((comment) => ({ ...comment, content: <SentCommentView comment={comment} /> })),
      ...waiting,
    ];
    if (!draft) return shown;
    const save = (made: Comment) => {
      setComments([...comments, made]);
      begin(null);
    };
    const form = (
      <DraftComment name={`comment.${id}.text`} place={draft} onSave={save} onCancel={() => begin(null)} />
    );
    return [...shown, { ...draft, key: "draft", content: form }];
  }, [sent, comments, draft, begin, id]);
  return { notes, sent, comments, begin, forget: () => setComments([]) };
}
