import Type, { type Static, type TSchema } from 'typebox';
import { Explanation } from './explanation.ts';
import { Failures } from './failures.ts';
import { Gantt } from './gantt.ts';
import { JobDetail, JobList, JobRows } from './job.ts';
import { Ledger } from './ledger.ts';
import { MachineDetail, MachineOverview, MachinePage } from './machines.ts';
import { Count, Done, InstantMs, JobId, TaskIndex, TaskStatusName } from './parts.ts';
import { ProviderDetail, ProviderList } from './providers.ts';
import {
  RenegotiationSpec,
  ReservationCalendar,
  ReservationList,
  ReservationPlacement,
  ReservationSpec,
  ResourceList,
} from './reservations.ts';
import { Session } from './session.ts';
import { BagDraftOfJob, BagPreview, BagSpec, JdfCheck, JdfSpec, Submitted, WorkflowSubmission } from './submission.ts';
import { History, Summary } from './summary.ts';
import { Task, TaskOutput, TaskPage } from './task.ts';
import { TaskTimes } from './times.ts';
import {
  ExportedWorkflow,
  ImportedWorkflow,
  JobGraph,
  PlanSpec,
  Workflow,
  WorkflowCheck,
  WorkflowChoices,
  WorkflowPlan,
} from './workflow.ts';

/**
 * One call of the gateway: where it is, what it takes and what it answers with status 200. Anything else is a Problem.
 */
export interface RouteSchema {
  readonly method: 'GET' | 'POST';
  /** Below `/api/v1`; `:name` are its parameters. */
  readonly path: string;
  readonly params: TSchema;
  readonly query: TSchema;
  readonly body: TSchema;
  readonly reply: TSchema;
}

const nothing = Type.Object({});
const ofJob = Type.Object({ job_id: JobId });
const ofTask = Type.Object({ job_id: JobId, task_index: TaskIndex });
const ofReservation = Type.Object({ reservation_id: Count });
const Name = Type.String({ minLength: 1, maxLength: 256 });

/** All that it can be done to when left out. */
const SomeTasks = Type.Object({ task_indexes: Type.Optional(Type.Array(TaskIndex, { maxItems: 100_000 })) });

function get<P extends TSchema, Q extends TSchema, R extends TSchema>(path: string, params: P, query: Q, reply: R) {
  return { method: 'GET' as const, path, params, query, body: nothing, reply };
}

function post<P extends TSchema, B extends TSchema, R extends TSchema>(path: string, params: P, body: B, reply: R) {
  return { method: 'POST' as const, path, params, query: nothing, body, reply };
}

/** Every call by its name. The server registers them from here, and the page calls them by it. */
export const routes = {
  getSession: get('/session', nothing, nothing, Session),
  getSummary: get('/summary', nothing, nothing, Summary),
  getHistory: get(
    '/history',
    nothing,
    Type.Object({
      minutes: Type.Optional(
        Type.Integer({ minimum: 1, maximum: 1440, description: 'How far back, 10 when left out.' }),
      ),
    }),
    History,
  ),
  listJobs: get(
    '/jobs',
    nothing,
    Type.Object({
      page_size: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000 })),
      before_job_id: Type.Optional(JobId),
    }),
    JobList,
  ),
  lookUpJobs: get(
    '/job-rows',
    nothing,
    Type.Object({
      job_ids: Type.String({
        pattern: '^[1-9][0-9]{0,14}(,[1-9][0-9]{0,14}){0,99}$',
        description: 'Numbers of jobs with commas between them, 100 at most.',
      }),
    }),
    JobRows,
  ),
  getJob: get('/jobs/:job_id', ofJob, nothing, JobDetail),
  listTasks: get(
    '/jobs/:job_id/tasks',
    ofJob,
    Type.Object({
      status: Type.Optional(TaskStatusName),
      search: Type.Optional(
        Type.String({
          maxLength: 256,
          description:
            'Only tasks whose value contains this, in any case, or `#7` for the task of that index. One call looks ' +
            'through some thousands: go on with `next_task_index`, also where a page is empty.',
        }),
      ),
      from_task_index: Type.Optional(TaskIndex),
      page_size: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000 })),
    }),
    TaskPage,
  ),
  getTask: get('/jobs/:job_id/tasks/:task_index', ofTask, nothing, Task),
  getTaskOutput: get(
    '/jobs/:job_id/tasks/:task_index/output',
    ofTask,
    Type.Object({ tail_bytes: Type.Optional(Type.Integer({ minimum: 0, maximum: 4_000_000 })) }),
    TaskOutput,
  ),
  getGantt: get(
    '/jobs/:job_id/gantt',
    ofJob,
    Type.Object({
      from_unix_ms: Type.Optional(InstantMs),
      until_unix_ms: Type.Optional(InstantMs),
      bin_count: Type.Optional(Type.Integer({ minimum: 10, maximum: 2000 })),
      bars_max: Type.Optional(Type.Integer({ minimum: 0, maximum: 50_000 })),
    }),
    Gantt,
  ),
  getTaskTimes: get('/jobs/:job_id/times', ofJob, nothing, TaskTimes),
  getFailures: get('/jobs/:job_id/failures', ofJob, nothing, Failures),
  getJobLedger: get('/jobs/:job_id/ledger', ofJob, nothing, Ledger),
  getJobGraph: get('/jobs/:job_id/graph', ofJob, nothing, JobGraph),
  cancelJob: post(
    '/jobs/:job_id/cancel',
    ofJob,
    Type.Object({ reason: Type.Optional(Type.String({ maxLength: 1024 })) }),
    Done,
  ),
  retryTasks: post(
    '/jobs/:job_id/retry',
    ofJob,
    Type.Object({
      task_indexes: Type.Optional(Type.Array(TaskIndex, { maxItems: 100_000 })),
      current_inputs: Type.Optional(
        Type.Boolean({ description: 'With the inputs as they are at home now. False when left out.' }),
      ),
    }),
    Type.Object({ retried_count: Count }),
  ),
  getBagDraft: get('/jobs/:job_id/draft', ofJob, nothing, BagDraftOfJob),
  holdTasks: post('/jobs/:job_id/hold', ofJob, SomeTasks, Type.Object({ held_count: Count })),
  releaseTasks: post('/jobs/:job_id/release', ofJob, SomeTasks, Type.Object({ released_count: Count })),
  cancelTasks: post(
    '/jobs/:job_id/cancel-tasks',
    ofJob,
    Type.Object({ task_indexes: Type.Array(TaskIndex, { minItems: 1, maxItems: 100_000 }) }),
    Type.Object({ cancelled_count: Count }),
  ),
  updateJob: post(
    '/jobs/:job_id/update',
    ofJob,
    Type.Object({
      priority: Type.Optional(Type.Integer({ minimum: -1000, maximum: 1000 })),
      running_max: Type.Optional(
        Type.Integer({
          minimum: 0,
          maximum: 1_000_000,
          description: 'Most of its tasks that run at once; 0 lifts it.',
        }),
      ),
    }),
    Done,
  ),
  closeJob: post('/jobs/:job_id/close', ofJob, nothing, Type.Object({ task_count: Count })),
  getLedger: get('/ledger', nothing, nothing, Ledger),
  explainJob: get('/jobs/:job_id/explain', ofJob, nothing, Explanation),
  explainTask: get('/jobs/:job_id/tasks/:task_index/explain', ofTask, nothing, Explanation),
  explainRequest: get(
    '/explain/request',
    nothing,
    Type.Object({ request: Type.String({ minLength: 1, maxLength: 256, description: '`alpha/3`' }) }),
    Explanation,
  ),
  getMachines: get('/machines', nothing, nothing, MachineOverview),
  listMachines: get(
    '/machines/page',
    nothing,
    Type.Object({
      provider_id: Type.Optional(Name),
      after: Type.Optional(Name),
      page_size: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000 })),
    }),
    MachinePage,
  ),
  getMachine: get('/machine', nothing, Type.Object({ machine_id: Name }), MachineDetail),
  listProviders: get('/providers', nothing, nothing, ProviderList),
  getProvider: get('/providers/:provider_id', Type.Object({ provider_id: Name }), nothing, ProviderDetail),
  getWorkflowChoices: get('/workflows/choices', nothing, nothing, WorkflowChoices),
  importWorkflow: post(
    '/workflows/import',
    nothing,
    Type.Object({ text: Type.String({ maxLength: 30_000_000 }), name: Type.Optional(Name) }),
    ImportedWorkflow,
  ),
  exportWorkflow: post(
    '/workflows/export',
    nothing,
    Type.Object({ workflow: Workflow, format: Type.String() }),
    ExportedWorkflow,
  ),
  checkWorkflow: post('/workflows/check', nothing, Type.Object({ workflow: Workflow }), WorkflowCheck),
  planWorkflow: post('/workflows/plan', nothing, PlanSpec, WorkflowPlan),
  submitWorkflow: post('/workflows/submit', nothing, WorkflowSubmission, Submitted),
  listResources: get('/reservations/resources', nothing, nothing, ResourceList),
  getCalendar: get(
    '/reservations/calendar',
    nothing,
    Type.Object({ resource_id: Name, from_unix_ms: InstantMs, until_unix_ms: InstantMs }),
    ReservationCalendar,
  ),
  listReservations: get(
    '/reservations',
    nothing,
    Type.Object({
      before_reservation_id: Type.Optional(Count),
      page_size: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000 })),
    }),
    ReservationList,
  ),
  requestReservation: post('/reservations', nothing, ReservationSpec, ReservationPlacement),
  renegotiateReservation: post(
    '/reservations/:reservation_id/renegotiate',
    ofReservation,
    RenegotiationSpec,
    ReservationPlacement,
  ),
  cancelReservation: post(
    '/reservations/:reservation_id/cancel',
    ofReservation,
    Type.Object({ reason: Type.Optional(Type.String({ maxLength: 1024 })) }),
    Done,
  ),
  previewBag: post('/submissions/bag/preview', nothing, BagSpec, BagPreview),
  submitBag: post('/submissions/bag', nothing, BagSpec, Submitted),
  checkJdf: post('/submissions/jdf/check', nothing, JdfSpec, JdfCheck),
  submitJdf: post('/submissions/jdf', nothing, JdfSpec, Submitted),
} as const satisfies Record<string, RouteSchema>;

export type RouteName = keyof typeof routes;
export type RouteParams<N extends RouteName> = Static<(typeof routes)[N]['params']>;
export type RouteQuery<N extends RouteName> = Static<(typeof routes)[N]['query']>;
export type RouteBody<N extends RouteName> = Static<(typeof routes)[N]['body']>;
export type RouteReply<N extends RouteName> = Static<(typeof routes)[N]['reply']>;

/** Where all calls are. */
export const apiPrefix = '/api/v1';
/** The stream of `streamTopics`: `?topics=summary,jobs` and, for `job`, `&job=5`. */
export const eventsPath = `${apiPrefix}/events`;
/** `?what=...&format=...` of `/jobs/ID/download`: a file to save. */
export const downloadFormats = {
  replicas: ['csv', 'json'],
  ledger: ['csv', 'json'],
  gantt: ['svg', 'json'],
  times: ['svg', 'json', 'csv'],
  stragglers: ['csv', 'json', 'svg'],
  failures: ['csv', 'json'],
  report: ['html'],
} as const;
