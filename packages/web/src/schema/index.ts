export { Explanation } from './explanation.ts';
export { FailureGroup, Failures } from './failures.ts';
export { barKinds, Bars, Cells, Gantt } from './gantt.ts';
export { JobDetail, JobList, JobRow, JobRows } from './job.ts';
export { Ledger, LedgerRow } from './ledger.ts';
export { Machine, MachineDetail, MachineOverview, MachinePage, machineStatusNames } from './machines.ts';
export { Done, TaskCounts, TaskStatusName } from './parts.ts';
export { Problem } from './problem.ts';
export { AllocationRequest, ProviderDetail, ProviderList, ProviderRow, QueueProfile } from './providers.ts';
export { Reason } from './reason.ts';
export {
  RenegotiationSpec,
  ReservableResource,
  Reservation,
  ReservationCalendar,
  ReservationList,
  ReservationPlacement,
  ReservationSpec,
  ResourceList,
} from './reservations.ts';
export {
  apiPrefix,
  downloadFormats,
  eventsPath,
  routes,
  type RouteBody,
  type RouteName,
  type RouteParams,
  type RouteQuery,
  type RouteReply,
  type RouteSchema,
} from './routes.ts';
export { Session } from './session.ts';
export {
  BrokerLink,
  GridEvent,
  heartbeatMs,
  RecentEvents,
  streamTopics,
  type StreamMessage,
  type StreamTopic,
} from './stream.ts';
export {
  BagDraftOfJob,
  BagPreview,
  BagValues,
  BagSpec,
  DroppedFile,
  JdfCheck,
  JdfSpec,
  Submitted,
  WorkflowSubmission,
} from './submission.ts';
export { History, Summary } from './summary.ts';
export { Replica, TailMessage, Task, TaskOutput, TaskPage } from './task.ts';
export { TaskTimes } from './times.ts';
export {
  ExportedWorkflow,
  ImportedWorkflow,
  JobGraph,
  PlanPlatform,
  PlanSpec,
  Workflow,
  WorkflowCheck,
  WorkflowChoices,
  WorkflowEdge,
  WorkflowFile,
  WorkflowPlan,
  WorkflowTask,
} from './workflow.ts';
export type { ReportData } from './report.ts';
