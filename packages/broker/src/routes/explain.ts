import type { ExplainRequest, ExplainResponse, GetLedgerRequest, GetLedgerResponse } from '@mutirao/api/broker';
import { badRequest, encodeExplanation, encodeLedgerRow } from '@mutirao/api/codecs';
import { MutiraoError } from '@mutirao/api/errors';
import {
  explainJob,
  explainMachine,
  explainRequest,
  explainTask,
  findJobLedger,
  findLedger,
  type Explanation,
} from '@mutirao/core/machines/broker';
import type { Reason } from '@mutirao/core/reasons';
import type { JobId, TaskIndex, UserId } from '@mutirao/core/shared';
import type { UnaryHandler } from '@mutirao/runtime/rpc';

import { findTaken } from '../staging/task-of-job.ts';
import { getJob, type BrokerParts } from './broker-parts.ts';

/** Says why a job, a task, an allocation request or a machine is as it is. */
export function explainRoute(parts: BrokerParts): UnaryHandler<ExplainRequest, ExplainResponse> {
  return ({ subject }, { userId }) => {
    const {
      driver: { state },
      clock,
    } = parts;
    switch (subject?.$case) {
      case 'jobId':
        return encodeFound(
          withChecks(explainJob(state, userId, subject.value, clock.now()), parts.checks.describe(subject.value)),
          `job ${subject.value} of yours`,
        );
      case 'task':
        return getExplainTask(parts, { userId, ...subject.value });
      case 'request':
        return encodeFound(explainRequest(state, subject.value, clock.now()), `request ${subject.value}`);
      case 'machineId':
        return encodeFound(
          explainMachine(state, { machineId: subject.value, userId }, clock.now()),
          `machine ${subject.value} here; "mutirao machine list" shows those that are`,
        );
      case undefined:
        throw badRequest('subject is absent; expected a job, a task, a request or a machine');
    }
  };
}

function getExplainTask(
  parts: BrokerParts,
  subject: { readonly userId: UserId; readonly jobId: JobId; readonly taskIndex: TaskIndex },
): ExplainResponse {
  const { jobId, taskIndex, userId } = subject;
  const reusedFrom = findTaken(parts.specs.getSpec(getJob(parts, userId, jobId)).resumes?.tasks ?? [], taskIndex);
  const ended = parts.records.endingsOf(jobId, taskIndex, taskIndex).get(taskIndex) ?? [];
  const past = ended.map(({ machineId, ...ending }) => ({ machineId, ending }));
  const explanation = explainTask(parts.driver.state, { ...subject, past, reusedFrom }, parts.clock.now());
  return encodeFound(
    withChecks(explanation, parts.checks.describe(jobId, taskIndex)),
    `task ${taskIndex} in job ${jobId} of yours`,
  );
}

/** The core knows that a result is being checked, and not whether the check runs. */
function withChecks(explanation: Explanation | undefined, checks: readonly Reason[]): Explanation | undefined {
  return explanation === undefined ? undefined : { ...explanation, details: [...checks, ...explanation.details] };
}

function encodeFound(explanation: Explanation | undefined, what: string): ExplainResponse {
  if (explanation === undefined) throw new MutiraoError('MUT_NOT_FOUND', `there is no ${what}`);
  return encodeExplanation(explanation);
}

/** What became of the processor-time that the broker held, for all jobs or one of the user's. */
export function getLedgerRoute(parts: BrokerParts): UnaryHandler<GetLedgerRequest, GetLedgerResponse> {
  return ({ jobId }, { userId }) => {
    const {
      driver: { state },
      clock,
    } = parts;
    if (jobId === 0) return { rows: findLedger(state, clock.now()).map(encodeLedgerRow) };
    getJob(parts, userId, jobId);
    return { rows: (findJobLedger(state, jobId, clock.now()) ?? []).map(encodeLedgerRow) };
  };
}
