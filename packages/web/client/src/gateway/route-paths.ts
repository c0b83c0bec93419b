import type { RouteName } from '../../../src/schema/index.ts';

/** How each call of the gateway is made: the page does not carry the schemas, a test compares the two. */
export const routePaths = {
  getSession: 'GET /session',
  getSummary: 'GET /summary',
  getHistory: 'GET /history',
  listJobs: 'GET /jobs',
  lookUpJobs: 'GET /job-rows',
  getJob: 'GET /jobs/:job_id',
  listTasks: 'GET /jobs/:job_id/tasks',
  getTask: 'GET /jobs/:job_id/tasks/:task_index',
  getTaskOutput: 'GET /jobs/:job_id/tasks/:task_index/output',
  getGantt: 'GET /jobs/:job_id/gantt',
  getTaskTimes: 'GET /jobs/:job_id/times',
  getFailures: 'GET /jobs/:job_id/failures',
  getJobLedger: 'GET /jobs/:job_id/ledger',
  getJobGraph: 'GET /jobs/:job_id/graph',
  cancelJob: 'POST /jobs/:job_id/cancel',
  retryTasks: 'POST /jobs/:job_id/retry',
  getBagDraft: 'GET /jobs/:job_id/draft',
  holdTasks: 'POST /jobs/:job_id/hold',
  releaseTasks: 'POST /jobs/:job_id/release',
  cancelTasks: 'POST /jobs/:job_id/cancel-tasks',
  updateJob: 'POST /jobs/:job_id/update',
  closeJob: 'POST /jobs/:job_id/close',
  getLedger: 'GET /ledger',
  explainJob: 'GET /jobs/:job_id/explain',
  explainTask: 'GET /jobs/:job_id/tasks/:task_index/explain',
  explainRequest: 'GET /explain/request',
  getMachines: 'GET /machines',
  listMachines: 'GET /machines/page',
  getMachine: 'GET /machine',
  listProviders: 'GET /providers',
  getProvider: 'GET /providers/:provider_id',
  getWorkflowChoices: 'GET /workflows/choices',
  importWorkflow: 'POST /workflows/import',
  exportWorkflow: 'POST /workflows/export',
  checkWorkflow: 'POST /workflows/check',
  planWorkflow: 'POST /workflows/plan',
  submitWorkflow: 'POST /workflows/submit',
  listResources: 'GET /reservations/resources',
  getCalendar: 'GET /reservations/calendar',
  listReservations: 'GET /reservations',
  requestReservation: 'POST /reservations',
  renegotiateReservation: 'POST /reservations/:reservation_id/renegotiate',
  cancelReservation: 'POST /reservations/:reservation_id/cancel',
  previewBag: 'POST /submissions/bag/preview',
  submitBag: 'POST /submissions/bag',
  checkJdf: 'POST /submissions/jdf/check',
  submitJdf: 'POST /submissions/jdf',
} as const satisfies Record<RouteName, `${'GET' | 'POST'} /${string}`>;

/** Where all calls are; as the schema says. */
export const apiPath = '/api/v1';

/** The address of a call, its parameters put in and its query behind. */
export function listAddress(
  name: RouteName,
  params: Readonly<Record<string, string | number>>,
  query: Readonly<Record<string, string | number | boolean | undefined>>,
): string {
  const path = routePaths[name]
    .replace(/^\w+ /, '')
    .replace(/:(\w+)/g, (_, key: string) => encodeURIComponent(String(params[key])));
  const asked = Object.entries(query).flatMap(([key, value]) =>
    value === undefined ? [] : [`${key}=${encodeURIComponent(String(value))}`],
  );
  return apiPath + path + (asked.length === 0 ? '' : `?${asked.join('&')}`);
}
