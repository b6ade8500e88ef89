import { MutationCache, QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { problemOf } from "@/api/client";
import { toastProblem } from "@/components/ui/toast";
import { preloadAll } from "@/lib/lazy";
import "./app.css";
import { router } from "./router";

const client = new QueryClient({
  mutationCache: new MutationCache({
    // Mutations that show their errors themselves say so in `meta`.
    onError: (fault, _variables, _context, mutation) => {
      if (!mutation.meta?.shown) toastProblem(fault);
    },
  }),
  defaultOptions: {
    queries: {
      staleTime: 1_000,
      // The offline bar reconnects; an error response is not retried, except a 5xx.
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
  // The server may be unreachable when a page is opened later.
  const stop = router.subscribe("onResolved", () => {
    stop();
    void preloadAll();
  });
}
