import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { act, renderHook, waitFor } from "@testing-library/react";
import type { ReactNode } from "react";
import { expect, it, vi } from "vitest";
import { useTranscript } from "@/events/use-transcript";
import { said } from "./events";

it("the transcript is kept when everything is refreshed", async () => {
  const client = new QueryClient();
  const text = `data: ${JSON.stringify(said(1, "Hello"))}\n\n`;
  const answers = [new Response(text)];
  vi.stubGlobal("fetch", async () => answers.shift() ?? new Promise(() => {}));
  const wrapper = ({ children }: { children: ReactNode }) => (
    <QueryClientProvider client={client}>{children}</QueryClientProvider>
  );
  const { result } = renderHook(() => useTranscript("wo-00000000"), { wrapper });
  await waitFor(() => expect(result.current.transcript.items).toHaveLength(1));
  await act(() => client.invalidateQueries());
  expect(result.current.transcript.items).toMatchObject([{ kind: "text", text: "Hello" }]);
  vi.unstubAllGlobals();
});
