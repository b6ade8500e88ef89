import { MutationCache, QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { problemOf } from "@/api/client";
import { toastProblem } from "@/components/ui/toast";
import { loadAhead } from "@/lib/patient";
import "./app.css";
import { router } from "./router";

const client = new QueryClient({
  mutationCache: new MutationCache({
    // Who shows a refusal in its own place says so.
    onError: (fault, _variables, _context, mutation) => {
      if (!mutation.meta?.shown) toastProblem(fault);
    },
  }),
  defaultOptions: {
    queries: {
      staleTime: 1_000,
      // The offline bar looks for the server; a refusal does not go away by asking again.
      retry: (failures, fault) => problemOf(fault).status >= 500 && failures < 2,
      networkMode: "always",
    },
    mutations: { networkMode: "always" },
  },
});

const root = document.getElementById("root");
if (root) {
  createRoot(root).render(
    <StrictMode>
      <QueryClientProvider client={client}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </StrictMode>,
  );
  // Later, the server may be away when a page is opened.
  const stop = router.subscribe("onResolved", () => {
    stop();
    void loadAhead();
  });
}
