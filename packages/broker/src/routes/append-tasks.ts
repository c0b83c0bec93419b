import type { AppendTasksRequest, AppendTasksResponse, CloseJobRequest, CloseJobResponse } from '@mutirao/api/broker';
import { decodeAppendTasks, type AppendTasks } from '@mutirao/api/codecs';
import { encodeReasons } from '@mutirao/api/reasons';
import type { BrokerJob } from '@mutirao/core/machines/broker';
import type { JobSpec } from '@mutirao/core/messages';
import type { JobId, UserId } from '@mutirao/core/shared';
import { unary, type UnaryHandler } from '@mutirao/runtime/rpc';

import { checkPlaces } from '../submission/check-places.ts';
import { doubtRequirements } from '../submission/doubt-requirements.ts';
import { doubtResources } from '../submission/doubt-resources.ts';
import { fingerprintInputs } from '../submission/fingerprint-inputs.ts';
import { getJob, requireOwner, type BrokerParts } from './broker-parts.ts';
import { checkTasks, touchesHome } from './submit-job.ts';

type Append = Pick<AppendTasksResponse, 'firstTaskIndex' | 'taskCount'>;

/** Adds tasks to an open job; all that can be wrong with them is found before anything of them is journaled. */
export function appendTasksRoute(parts: BrokerParts): UnaryHandler<AppendTasksRequest, AppendTasksResponse> {
  // Appends that write to places at home are looked at one after the other, so that each sees those before it.
  const busy = new Map<JobId, Promise<unknown>>();
  return unary({
    decode: decodeAppendTasks,
    handle: async (request, { userId }) => await appendTasks(parts, { userId, request, busy }),
    encode: (response: AppendTasksResponse) => response,
  });
}

/** Has an open job take no more tasks. */
export function closeJobRoute(parts: BrokerParts): UnaryHandler<CloseJobRequest, CloseJobResponse> {
  return async ({ jobId }, { userId }) =>
    await parts.driver.ask<CloseJobResponse>((replyTo) => ({ kind: 'JobClosed', replyTo, userId, jobId }));
}

interface Call {
  readonly userId: UserId;
  readonly request: AppendTasks;
  readonly busy: Map<JobId, Promise<unknown>>;
}

async function appendTasks(parts: BrokerParts, call: Call): Promise<AppendTasksResponse> {
  const { userId, request } = call;
  const job = getJob(parts, userId, request.jobId);
  // The core answers requests that are refused in any case, or were carried out already.
  if (job.spec === undefined || !job.takesTasks || job.appends.has(request.appendKey) || request.appendKey === '')
    return { ...(await ask(parts, call, request.groups)), warnings: [] };
  parts.room.demand();
  const { resumes: _resumes, open: _open, ...common } = job.spec;
  const given: JobSpec = { ...common, groups: request.groups };
  if (touchesHome(given)) requireOwner(parts, userId, 'a task with local paths, a work folder or a check');
  const added = await fingerprintInputs(await checkTasks(parts, userId, given), parts.homeFiles);
  const answer = writesHome(added)
    ? await inTurn(call, async () => await askWithPlaces(parts, call, { job, added }))
    : await ask(parts, call, added.groups);
  const { state } = parts.driver;
  const doubts = [...doubtRequirements(added, state), ...doubtResources(added, state)];
  return { ...answer, warnings: encodeReasons(doubts) };
}

async function ask(parts: BrokerParts, { userId, request }: Call, groups: JobSpec['groups']): Promise<Append> {
  const { jobId, appendKey } = request;
  return await parts.driver.ask<Append>((replyTo) => ({
    kind: 'TasksAppended',
    replyTo,
    userId,
    jobId,
    appendKey,
    groups,
  }));
}

function writesHome({ groups }: JobSpec): boolean {
  return groups.some(({ outputs }) => outputs.some(({ localPath }) => localPath !== ''));
}

/** Sees that its outputs go where neither the job nor another one writes. Cost: O(outputs of the job), 200,000 at most. */
async function askWithPlaces(
  parts: BrokerParts,
  call: Call,
  { job, added }: { readonly job: BrokerJob; readonly added: JobSpec },
): Promise<Append> {
  const { jobId, userId, clientJobId } = job;
  // It may have been added, or the job closed, while others had their turn.
  if (!job.takesTasks || job.appends.has(call.request.appendKey)) return await ask(parts, call, added.groups);
  const spec: JobSpec = { ...added, groups: [...(job.spec?.groups ?? []), ...added.groups] };
  const places = await checkPlaces(spec);
  return await parts.otherJobsPlaces.during(
    { jobId, userId, clientJobId, spec },
    places,
    async () => await ask(parts, call, added.groups),
  );
}

async function inTurn<Answer>({ request, busy }: Call, work: () => Promise<Answer>): Promise<Answer> {
  const { jobId } = request;
  const before = busy.get(jobId) ?? Promise.resolve();
  const answer = before.then(work, work);
  busy.set(jobId, answer);
  try {
    return await answer;
  } finally {
    if (busy.get(jobId) === answer) busy.delete(jobId);
  }
}
