// Proves that a user gets no more jobs and tasks than the configuration allows, whichever way a job comes to be open,
// and that the owner gets any number.
import test from 'ava';
import {
  type BrokerCommand,
  type BrokerInput,
  brokerMachine,
  createBrokerState,
  listJobQuotas,
} from '@mutirao/core/machines/broker';
import { parseQuotas, type QuotaRules } from '@mutirao/core/quotas';
import { aJob } from '@mutirao/testkit';

function aBroker(...rules: string[]) {
  const quotas = parseQuotas(rules, 'owner') as QuotaRules;
  const state = createBrokerState({ quotas });
  const step = (input: BrokerInput): string => {
    const { commands } = brokerMachine.step(state, [input], 1);
    brokerMachine.checkInvariants(state);
    return describe(commands);
  };
  return {
    state,
    submit: (userId: string, taskCount: number) =>
      step({ kind: 'JobSubmitted', replyTo: 7, userId, clientJobId: '', spec: aJob(taskCount) }),
    cancel: (userId: string, jobId: number) => step({ kind: 'JobCancelled', replyTo: 7, userId, jobId, reason: '' }),
    submitOpen: (userId: string, taskCount: number) =>
      step({ kind: 'JobSubmitted', replyTo: 7, userId, clientJobId: '', spec: aJob(taskCount, { open: true }) }),
    append: (userId: string, jobId: number, taskCount: number) =>
      step({
        kind: 'TasksAppended',
        replyTo: 7,
        userId,
        jobId,
        appendKey: `${taskCount}`,
        groups: aJob(taskCount).groups,
      }),
    retry: (userId: string, jobId: number) =>
      step({ kind: 'TasksRetried', replyTo: 7, userId, jobId, taskIndexes: [] }),
  };
}

/** `ok`, or the code and the name of the quota. */
function describe(commands: readonly BrokerCommand[]): string {
  const reply = commands.find((command) => command.kind === 'Reply')?.reply;
  if (reply?.ok !== false) return 'ok';
  return `${reply.code} ${reply.fault.code === 'user-quota-exceeded' ? reply.fault.quota : ''}`;
}

test('a user gets a limited number of jobs and tasks at a time, and others are not affected', (t) => {
  const { submit, cancel, state } = aBroker('jobs=2', 'tasks=10');
  t.is(submit('maria', 4), 'ok');
  t.is(submit('maria', 7), 'MUT_USER_QUOTA tasks');
  t.is(submit('maria', 6), 'ok');
  t.is(submit('maria', 1), 'MUT_USER_QUOTA jobs');
  t.is(submit('joao', 10), 'ok');
  t.deepEqual(listJobQuotas(state, 'maria'), [
    { name: 'jobs', used: 2, allowed: 2 },
    { name: 'tasks', used: 10, allowed: 10 },
  ]);
  t.is(cancel('maria', 2), 'ok');
  t.is(submit('maria', 1), 'ok');
});

test('tasks that are appended count as those of a new job do, and a repeated append does not', (t) => {
  const { submitOpen, append, state } = aBroker('jobs=1', 'tasks=10');
  t.is(submitOpen('maria', 4), 'ok');
  t.is(append('maria', 1, 7), 'MUT_USER_QUOTA tasks');
  t.is(append('maria', 1, 6), 'ok');
  t.is(append('maria', 1, 6), 'ok');
  t.is(append('maria', 1, 1), 'MUT_USER_QUOTA tasks');
  t.deepEqual(listJobQuotas(state, 'maria')[1], { name: 'tasks', used: 10, allowed: 10 });
});

test('jobs that are opened again by a retry count as new ones do', (t) => {
  const { submit, cancel, retry } = aBroker('jobs=1');
  t.is(submit('maria', 1), 'ok');
  t.is(cancel('maria', 1), 'ok');
  t.is(submit('maria', 1), 'ok');
  t.is(retry('maria', 1), 'MUT_USER_QUOTA jobs');
  t.is(cancel('maria', 2), 'ok');
  t.is(retry('maria', 1), 'ok');
});

test('the owner has no quota', (t) => {
  const { submit } = aBroker('jobs=1', 'tasks=1');
  for (let job = 0; job < 20; job += 1) t.is(submit('owner', 100), 'ok');
});
