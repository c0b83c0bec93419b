// What an open page costs the broker: jobs of no-op tasks in turn with a page that subscribes to all topics and without
// any page, and the broker's processor time per task.
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { ownProgram } from '@mutirao/runtime/processes';
import { Grid, taskGroup, until } from '@mutirao/testkit';
import { below, median, option, plain, report } from './harness.ts';

const tasks = option('tasks', 20_000);
const rounds = option('rounds', 6);
const sleepMs = option('sleep', 0);
const grid = await Grid.start({ machines: [8, 8] });
const [command, ...args] = ownProgram('web');
const web = spawn(command, [...args, '--home', grid.home], { stdio: ['ignore', 'ignore', 'inherit'] });

/** Processor time of a process so far, in milliseconds, by ticks of a hundredth of a second. */
function processorTime(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

/** Opens a page on all topics, and closes it again. */
async function openPage(address: string): Promise<() => number> {
  const token = readFileSync(join(grid.home, 'web', 'token'), 'utf8').trim();
  const controller = new AbortController();
  const answer = await fetch(`http://${address}/api/v1/events?topics=summary,jobs,machines,providers,ledger,events`, {
    headers: { authorization: `Bearer ${token}` },
    signal: controller.signal,
  });
  let messages = 0;
  void (async () => {
    for await (const chunk of answer.body ?? [])
      messages += Buffer.from(chunk).toString().split('\nevent: ').length - 1;
  })().catch(() => undefined);
  return () => {
    controller.abort();
    return messages;
  };
}

interface Round {
  readonly rate: number;
  readonly brokerPerTask: number;
  readonly messages: number;
}

async function runJob(page: boolean, address: string): Promise<Round> {
  const close = page ? await openPage(address) : undefined;
  const [start, used] = [performance.now(), processorTime(grid.broker.pid)];
  const group = sleepMs === 0 ? taskGroup('', tasks, { noOp: true }) : taskGroup(`sleep ${sleepMs / 1000}`, tasks);
  const job = await grid.client.waitEnded(await grid.client.submit([group]), 300_000);
  if (job.finishedCount !== tasks) throw new Error(`${job.finishedCount} of ${tasks} finished`);
  const seconds = (performance.now() - start) / 1000;
  return {
    rate: tasks / seconds,
    brokerPerTask: (processorTime(grid.broker.pid) - used) / tasks,
    messages: (close?.() ?? 0) / seconds,
  };
}

try {
  await grid.client.waitMachines(2);
  let address = '';
  await until(() => {
    try {
      ({ address } = JSON.parse(readFileSync(join(grid.home, 'web', 'web.json'), 'utf8')) as { address: string });
    } catch {
      return false; // Not written yet.
    }
    return address !== '';
  }, 'the gateway listens');
  await runJob(false, address);
  const [withPage, without]: [Round[], Round[]] = [[], []];
  // In turn, and each first as often as second: whatever else this machine does befalls both.
  for (let round = 0; round < rounds; round += 1) {
    for (const page of round % 2 === 0 ? [true, false] : [false, true])
      (page ? withPage : without).push(await runJob(page, address));
  }
  const of = (some: readonly Round[], pick: (round: Round) => number): number => median(some.map(pick));
  const [open, closed] = [of(withPage, ({ rate }) => rate), of(without, ({ rate }) => rate)];
  const [openTime, closedTime] = [
    of(withPage, ({ brokerPerTask }) => brokerPerTask),
    of(without, ({ brokerPerTask }) => brokerPerTask),
  ];
  report('broker with a page open', [
    plain(`rate without, median of ${rounds} jobs of ${tasks}`, closed, 'tasks/s'),
    plain('rate with a page open', open, 'tasks/s'),
    below('loss of the rate', 100 * (1 - open / closed), '%', 5),
    plain('processor time of the broker for a task, without', closedTime * 1000, 'us'),
    plain('the same with a page open', openTime * 1000, 'us'),
    plain(
      'messages to the page',
      of(withPage, ({ messages }) => messages),
      '1/s',
    ),
  ]);
} finally {
  web.kill('SIGTERM');
  await once(web, 'exit');
  await grid.stop();
}
