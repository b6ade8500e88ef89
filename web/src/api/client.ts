/**
 * The API client. An error response becomes a `Problem` that says what happened and what to do;
 * a server that cannot be reached becomes one too, and the connection store is notified.
 */

import createClient from "openapi-fetch";
import { reached, unreachable } from "@/events/connection";
import type { components, paths } from "./schema";

type Schemas = components["schemas"];
export type Order = Schemas["AgentWorkOrder"];
export type OneOrder = Schemas["OneWorkOrder"];
export type OrderPage = Schemas["WorkOrderPage"];
export type Status = Order["status"];
export type Action = Order["allowed_actions"][number];
export type Step = Schemas["Step"];
export type EventMessage = Schemas["EventMessage"];
export type Cost = Schemas["OrderCost"];
export type Evidence = Schemas["EvidenceRecord"];
export type Workflow = Schemas["Workflow"];
export type WorkflowChoice = Schemas["WorkflowChoice"];
export type Prompt = Schemas["PromptView"];
export type Approval = Schemas["ApprovalView"];
export type NewOrder = Schemas["NewWorkOrder"];
export type ShownPullRequest = Schemas["ShownPullRequest"];

export type RepositoryCommand = Schemas["FoundCommand"];
export type CommandProblem = Schemas["CommandProblem"];

export type Repository = Schemas["KnownRepository"];
export type RepositoryEnvironment = Schemas["RepositoryEnvironment"];
export type EnvironmentReport = Schemas["EnvironmentReport"];
export type EnvironmentFinding = Schemas["EnvironmentFinding"];
export type CheckFact = Schemas["CheckFact"];

export type LineFault = Schemas["LineProblem"];
export type FieldFault = { field: string; message: string };

export class Problem extends Error {
  constructor(
    readonly status: number,
    readonly detail: string,
    readonly hint = "",
    readonly category = "internal",
    /** The last part of the problem's type, such as `invalid-repository`. */
    readonly kind = "",
    /** Validation errors by field. */
    readonly fields: FieldFault[] = [],
    /** Mistakes in a text, by line. */
    readonly lines: LineFault[] = [],
  ) {
    super(detail);
  }
}

const isProblem = (body: unknown): body is Schemas["Problem"] =>
  typeof body === "object" && body !== null && "detail" in body && "status" in body;

async function reaching(request: Request): Promise<Response> {
  try {
    const answer = await fetch(request);
    reached();
    return answer;
  } catch (fault) {
    if (request.signal.aborted) throw fault;
    unreachable();
    throw new Problem(0, "The server cannot be reached", "The page reconnects automatically.", "transient");
  }
}

export const api = createClient<paths>({ baseUrl: window.location.origin, fetch: reaching });

type Answer<T> = Promise<{ data?: T; error?: unknown; response: Response }>;

/** The response body, or a `Problem`. */
export async function unwrap<T>(answer: Answer<T>): Promise<T> {
  const { data, error, response } = await answer;
  if (response.ok) return data as T;
  if (isProblem(error)) {
    const kind = error.type.split(":").at(-1);
    const errors = error.errors ?? [];
    const fields = errors.filter((one): one is FieldFault => "field" in one);
    const lines = errors.filter((one): one is LineFault => "line" in one);
    throw new Problem(error.status, error.detail, error.hint, error.category, kind, fields, lines);
  }
  throw new Problem(response.status, `The server answered ${response.status}`);
}

export const problemOf = (fault: unknown): Problem =>
  fault instanceof Problem ? fault : new Problem(0, fault instanceof Error ? fault.message : String(fault));
