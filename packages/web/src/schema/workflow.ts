import Type, { type Static } from 'typebox';
import { Reason } from './reason.ts';
import { Count, JobId, orNull, TaskIndex } from './parts.ts';

const taskMax = 20_000;

/** A file that a task reads or writes. */
export const WorkflowFile = Type.Object({
  name: Type.String({ minLength: 1, maxLength: 4096 }),
  bytes: Type.Number({ minimum: 0 }),
  home: Type.Optional(
    Type.String({ minLength: 1, maxLength: 4096, description: 'Its place at home; its name where it is left out.' }),
  ),
  comes_home: Type.Optional(Type.Boolean({ description: 'Of an output; left out, it does where no task reads it.' })),
});
export type WorkflowFile = Static<typeof WorkflowFile>;

/** A task of a workflow as the editor has it. */
export const WorkflowTask = Type.Object({
  id: Type.String({ minLength: 1, maxLength: 1024 }),
  kind: Type.String({ maxLength: 1024, description: "A program's name, or an operation." }),
  work: Type.Number({ minimum: 0, description: 'Mflop; 1,000 of them are a second of run time.' }),
  exchange: Type.Number({
    minimum: 0,
    description: 'Bytes that its processors send each other in a step of a broadcast.',
  }),
  processors_min: Type.Integer({ minimum: 1 }),
  processors_max: Type.Integer({ minimum: 1 }),
  memory_bytes: Type.Optional(Type.Number({ minimum: 0, description: 'That a machine must have.' })),
  command: Type.String({ maxLength: 100_000 }),
  inputs: Type.Array(WorkflowFile, { maxItems: 10_000 }),
  outputs: Type.Array(WorkflowFile, { maxItems: 10_000 }),
  matrix: orNull(
    Type.Object({ operation: Type.String(), dimension: Type.Integer({ minimum: 0 }), parameters: Type.String() }),
  ),
  x: Type.Number({ description: 'Where it is drawn; 0 where a format has no place for that.' }),
  y: Type.Number(),
});
export type WorkflowTask = Static<typeof WorkflowTask>;

/** An edge between two tasks, by their ids. */
export const WorkflowEdge = Type.Object({
  from: Type.String(),
  to: Type.String(),
  data_bytes: Type.Number({
    minimum: 0,
    description: 'Data in addition to the files that one task writes and the other reads.',
  }),
  share: Type.Number({ minimum: 0, description: "Time of the transfer as a share of its sender's run time." }),
});
export type WorkflowEdge = Static<typeof WorkflowEdge>;

/** A workflow as the editor has it; it may have errors, which `check` reports. */
export const Workflow = Type.Object({
  name: Type.String({ maxLength: 1024 }),
  tasks: Type.Array(WorkflowTask, { maxItems: taskMax }),
  edges: Type.Array(WorkflowEdge, { maxItems: 1_000_000 }),
  outputs: orNull(
    Type.Array(Type.String(), {
      description: 'Files that come home also where tasks read them; null for those that no task reads.',
    }),
  ),
  many_writers: Type.Optional(
    Type.Boolean({ description: 'Several tasks may write one file; a reader gets what the task before it wrote.' }),
  ),
});
export type Workflow = Static<typeof Workflow>;

/** A workflow that was read from a file. */
export const ImportedWorkflow = Type.Object({
  format: Type.String(),
  workflow: Workflow,
  warnings: Type.Array(Type.String()),
  fault: orNull(
    Type.String({
      description: 'What keeps it from running though it can be drawn, such as a cycle, with its place in the file.',
    }),
  ),
});
export type ImportedWorkflow = Static<typeof ImportedWorkflow>;

/** A workflow in a format. */
export const ExportedWorkflow = Type.Object({
  format: Type.String(),
  text: Type.String(),
  losses: Type.Array(Type.String(), { description: 'What the format has no place for.' }),
});
export type ExportedWorkflow = Static<typeof ExportedWorkflow>;

/** What is wrong with a workflow, and what it is like where nothing is. */
export const WorkflowCheck = Type.Object({
  fault: orNull(
    Type.Object(
      {
        code: Type.String({ description: 'A code of the error registry, such as MUT_WORKFLOW_CYCLE.' }),
        message: Type.String(),
        task: orNull(Type.String()),
        edge: orNull(Type.Object({ from: Type.String(), to: Type.String() })),
      },
      { description: 'The first thing that is wrong; null where nothing is.' },
    ),
  ),
  task_count: Count,
  edge_count: Count,
  level_count: Count,
  widest_level: Count,
  without_command: Type.Array(Type.String(), {
    description: 'The first 100 tasks that only run with a command for all.',
  }),
  b_level_s: Type.Array(Type.Number(), {
    description:
      'By the order of the tasks: the longest way from its start to an end, run times on one processor of 1,000 ' +
      'Mflop/s. Empty where there is a fault.',
  }),
  critical_path: Type.Array(Type.String(), { description: 'Ids of its tasks, from the first to the last.' }),
  critical_path_s: Type.Number(),
});
export type WorkflowCheck = Static<typeof WorkflowCheck>;

/** The processors that a workflow is planned for. */
export const PlanPlatform = Type.Union([
  Type.Object({ kind: Type.Literal('grid') }, { description: 'What the grid has now.' }),
  Type.Object({
    kind: Type.Literal('uniform'),
    processors: Type.Integer({ minimum: 1, maximum: 4096 }),
    speed_mflops: Type.Number({ exclusiveMinimum: 0 }),
  }),
  Type.Object({
    kind: Type.Literal('list'),
    text: Type.String({ maxLength: 1_000_000, description: 'A line each: number, host, address, Mflop/s.' }),
  }),
]);
export type PlanPlatform = Static<typeof PlanPlatform>;

/** A workflow to plan, the algorithm and the platform. */
export const PlanSpec = Type.Object({
  workflow: Workflow,
  algorithm: Type.String({ description: 'One of `/workflows/algorithms`.' }),
  platform: PlanPlatform,
  bandwidth_bytes_per_s: Type.Optional(Type.Number({ exclusiveMinimum: 0, description: '125 MB/s when left out.' })),
  start_up_ms: Type.Optional(Type.Number({ minimum: 0, description: '0.1 when left out.' })),
});
export type PlanSpec = Static<typeof PlanSpec>;

/** A schedule of a workflow, made for a look: nothing is promised. */
export const WorkflowPlan = Type.Object({
  algorithm: Type.String({ description: 'With `auto`, also what was chosen.' }),
  processors: Type.Array(Type.String()),
  makespan_s: Type.Number(),
  bound_s: Type.Number({ description: 'No plan is shorter.' }),
  speedup: Type.Number(),
  efficiency: Type.Number(),
  placements: Type.Array(
    Type.Object({
      task: Type.String(),
      processors: Type.Array(Count, { description: 'Indexes into `processors`.' }),
      start_s: Type.Number(),
      end_s: Type.Number(),
      reason: Reason,
    }),
    { description: 'In the order of the tasks.' },
  ),
});
export type WorkflowPlan = Static<typeof WorkflowPlan>;

/** The algorithms and formats that there are. */
export const WorkflowChoices = Type.Object({
  algorithms: Type.Array(Type.String()),
  read_formats: Type.Array(Type.String()),
  written_formats: Type.Array(Type.String()),
});
export type WorkflowChoices = Static<typeof WorkflowChoices>;

/** What runs of a workflow: its graph with the state of each task, as columns. */
export const JobGraph = Type.Object({
  job_id: JobId,
  task_count: Count,
  tasks: Type.Object({
    value: Type.Array(Type.String()),
    status: Type.Array(Count, { description: 'Index into `statuses`.' }),
    machine_id: Type.Array(
      Type.String({ description: 'Where it runs, or ran with the result that was accepted; else empty.' }),
    ),
    started_unix_ms: Type.Array(Count, { description: '0 for not yet.' }),
    ended_unix_ms: Type.Array(Count),
  }),
  statuses: Type.Array(Type.String()),
  edges: Type.Object({ from: Type.Array(TaskIndex), to: Type.Array(TaskIndex) }),
  edges_left_out: Type.Integer({ description: 'Of the edges, those beyond the first 200,000.' }),
  read_task_count: Count,
});
export type JobGraph = Static<typeof JobGraph>;
