/** The graph of a workflow's steps, with the progress of an order where one is chosen. */

import { Graph as Layout, layout } from "@dagrejs/dagre";
import {
  Background,
  type Edge,
  Handle,
  type Node,
  type NodeProps,
  Position,
  ReactFlow,
  type Viewport,
} from "@xyflow/react";
import { Hand } from "lucide-react";
import { useMemo, useRef } from "react";
import "@xyflow/react/dist/style.css";
import type { Step, WorkflowChoice } from "@/api/client";
import { cn } from "@/lib/cn";
import { duration, money, secondsBetween } from "@/lib/format";
import { useIsDark } from "@/lib/theme";

type WorkflowStep = WorkflowChoice["steps"][number];
type StepNode = Node<{ step: WorkflowStep; done?: Step }, "step">;
const WIDTH = 168;
const HEIGHT = 64;
const MARGIN = 20;
/** Below it the steps are not legible. */
const LEAST_ZOOM = 0.7;

const LOOKS: Record<Step["status"], string> = {
  running: "border-info text-info",
  completed: "border-success text-success",
  failed: "border-destructive text-destructive",
  skipped: "border-dashed text-muted-foreground",
  waiting: "text-muted-foreground",
};

function StepView({ data: { step, done } }: NodeProps<StepNode>) {
  return (
    <div
      className={cn(
        "flex flex-col justify-center rounded-lg border-2 bg-card px-3",
        done && LOOKS[done.status],
      )}
      style={{ width: WIDTH, height: HEIGHT }}
    >
      <Handle type="target" position={Position.Left} className="invisible" />
      <p className="flex items-center gap-1.5 font-medium text-foreground">
        {step.requires_approval && <Hand aria-label="needs approval" className="size-3.5 text-warning" />}
        <span className="truncate">{step.name}</span>
      </p>
      <p className="truncate text-xs text-muted-foreground">
        {done ? (
          <>
            <span className={LOOKS[done.status].split(" ").at(-1)}>{done.status}</span>
            {done.completed_at && ` · ${duration(secondsBetween(done.started_at, done.completed_at))}`}
            {done.cost_usd !== null && ` · ${money(done.cost_usd)}`}
          </>
        ) : (
          step.kind
        )}
      </p>
      <Handle type="source" position={Position.Right} className="invisible" />
    </div>
  );
}

const NODE_TYPES = { step: StepView };

export default function Graph({ steps, done = {} }: { steps: WorkflowStep[]; done?: Record<string, Step> }) {
  const dark = useIsDark();
  const { nodes, edges } = useMemo(() => arranged(steps, done), [steps, done]);
  const frame = useRef<HTMLDivElement>(null);
  return (
    <ReactFlow
      ref={frame}
      nodes={nodes}
      edges={edges}
      nodeTypes={NODE_TYPES}
      colorMode={dark ? "dark" : "light"}
      onInit={(flow) => void flow.setViewport(openingView(nodes, frame.current))}
      nodesDraggable={false}
      nodesConnectable={false}
      nodesFocusable={false}
      edgesFocusable={false}
      elementsSelectable={false}
      zoomOnScroll={false}
      preventScrolling={false}
      proOptions={{ hideAttribution: true }}
      aria-label="Steps of the workflow"
    >
      <Background gap={20} />
    </ReactFlow>
  );
}

type Size = { clientWidth: number; clientHeight: number };

/** The whole graph where it is legible; else its beginning. */
export function openingView(nodes: StepNode[], frame: Size | null): Viewport {
  const { clientWidth: width, clientHeight: height } = frame ?? { clientWidth: 0, clientHeight: 0 };
  const right = Math.max(...nodes.map(({ position }) => position.x + WIDTH));
  const bottom = Math.max(...nodes.map(({ position }) => position.y + HEIGHT));
  const fitting = Math.min(1, (width - 2 * MARGIN) / right, (height - 2 * MARGIN) / bottom);
  const zoom = Math.max(fitting, LEAST_ZOOM);
  const middle = (space: number, size: number) => Math.max(MARGIN, (space - size * zoom) / 2);
  return { x: middle(width, right), y: middle(height, bottom), zoom };
}

export function arranged(
  steps: WorkflowStep[],
  done: Record<string, Step>,
): { nodes: StepNode[]; edges: Edge[] } {
  const graph = new Layout();
  graph.setGraph({ rankdir: "LR", nodesep: 24, ranksep: 56 });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const { name } of steps) graph.setNode(name, { width: WIDTH, height: HEIGHT });
  const edges = steps.flatMap(({ name, depends_on }) =>
    depends_on.map((source) => {
      graph.setEdge(source, name);
      return { id: `${source} ${name}`, source, target: name, animated: done[name]?.status === "running" };
    }),
  );
  layout(graph);
  const nodes = steps.map((step): StepNode => {
    const { x, y } = graph.node(step.name) as { x: number; y: number };
    return {
      id: step.name,
      type: "step",
      position: { x: x - WIDTH / 2, y: y - HEIGHT / 2 },
      data: { step, done: done[step.name] },
    };
  });
  return { nodes, edges };
}
