// Proves that processes write down who did what from where, for their account alone, and go on where that cannot be
// written.
import { mkdirSync, readFileSync, statSync } from 'node:fs';
import { userInfo } from 'node:os';
import test from 'ava';
import { GridMachineProviderServiceClient } from '@mutirao/api/provider';
import { auditPath } from '@mutirao/runtime/audit';
import { callUnary, dial } from '@mutirao/runtime/rpc';
import { Grid, HostileClient, messagePrefix, taskGroup, until } from '@mutirao/testkit';

let grid: Grid;

test.before(async () => {
  grid = await Grid.start({
    machines: [1],
    // In the place of the file of the lab's provider is a folder, so that it can never be written.
    prepare: (home) => {
      mkdirSync(auditPath(home, 'provider-lab'), { recursive: true, mode: 0o700 });
      return Promise.resolve();
    },
  });
});
test.after.always(async () => {
  await grid.stop();
});

function getAudit(name: string): Record<string, unknown>[] {
  return readFileSync(auditPath(grid.home, name), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

test.serial('submissions, cancels and refused calls are in the audit log of the broker', async (t) => {
  const jobId = await grid.client.submit([taskGroup('sleep 100', 2)]);
  await grid.client.cancel(jobId);
  const hostile = new HostileClient(grid.broker.address);
  const call = hostile.begin(hostile.connect(), '/mutirao.broker.v1.BrokerService/SubmitJob', {
    authorization: 'Bearer guessed',
  });
  call.stream.write(messagePrefix(1000));
  await until(() => call.isOver(), 'the call is refused');
  await hostile.close();
  const who = userInfo().username;
  const lines = getAudit('broker');
  t.deepEqual(
    lines.map(({ time: _time, ...rest }) => rest),
    [
      { action: 'job.submit', who, from: 'socket', target: `job ${jobId} of 2 tasks` },
      { action: 'job.cancel', who, from: 'socket', target: `job ${jobId}` },
      {
        action: 'call.refuse',
        who: '',
        from: 'socket',
        target: '/mutirao.broker.v1.BrokerService/SubmitJob',
        refused_with: 'MUT_UNAUTHENTICATED',
        detail: 'the credential is not accepted',
      },
    ],
  );
  t.true(lines.every(({ time }) => Math.abs(Date.parse(String(time)) - Date.now()) < 600_000));
  t.is(statSync(auditPath(grid.home, 'broker')).mode & 0o777, 0o600);
});

test.serial('a provider whose audit log cannot be written serves, and says it once', async (t) => {
  const lab = grid.providers.at(-1);
  if (lab === undefined) throw new Error('there is no lab');
  const client = dial(GridMachineProviderServiceClient, lab.address, {
    token: () => readFileSync(`${grid.home}/token`, 'utf8').trim(),
  });
  t.teardown(() => {
    client.close();
  });
  for (const method of ['drain', 'undrain', 'drain', 'undrain'] as const)
    await callUnary(client, method, { reason: '', atOnce: false }, { deadlineMs: 60_000 });
  const jobId = await grid.client.submit([taskGroup('true', 1)]);
  await grid.client.waitEnded(jobId);
  t.is(lab.log.filter((line) => line.includes('cannot write the audit log')).length, 1);
});
