// The documents that the page gets of a grid with 100,000 tasks and 1,000 machines: their sizes, and the time that the
// gateway needs. The broker answers from memory, so its own time is left out.
import { JobStatus, ReplicaDisposition, TaskStatus } from '@mutirao/api/broker';
import { Outcome } from '@mutirao/api/machine';
import { quietLogger } from '@mutirao/runtime/log';
import { acceptToken } from '@mutirao/runtime/rpc';
import {
  aJobSummary,
  aMachineRecord,
  AnsweringBroker,
  aReplica,
  aTask,
  fakePageGrid,
  webHeaders,
  webToken,
} from '@mutirao/testkit';
import { loopbackHosts, makeGateway, makeStaticFiles } from '@mutirao/web/server';
import { gzipSync } from 'node:zlib';
import { below, median, option, plain, report, type Figure } from './harness.ts';

const taskCount = option('tasks', 100_000);
const machineCount = option('machines', 1000);
const rounds = option('rounds', 5);
const broker = new AnsweringBroker();
const startedAt = 1_700_000_000_000;

function fill(): void {
  broker.machines = Array.from({ length: machineCount }, (_, index) =>
    aMachineRecord({
      facts: {
        machineId: `site${index % 4}/q${Math.floor(index / 40)}.${index % 40}`,
        incarnation: 'x',
        processors: 1,
        attributes: { os: 'linux', mem: '4096' },
        requestId: '',
        sharedTokens: [],
        homeMarks: [],
      },
      providerId: `site${index % 4}`,
      runningCount: 1,
    }),
  );
  broker.jobs = [aJobSummary({ taskCount, finishedCount: taskCount, status: JobStatus.FINISHED })];
  broker.tasks.set(
    1,
    Array.from({ length: taskCount }, (_, taskIndex) => {
      const machineId = `site${taskIndex % 4}/q${Math.floor((taskIndex % machineCount) / 40)}.${taskIndex % 40}`;
      const begin = startedAt + Math.floor(taskIndex / machineCount) * 1000;
      const run = aReplica({
        replicaId: taskIndex,
        machineId,
        dispatchedUnixMs: begin,
        startedUnixMs: begin + 20,
        endedUnixMs: begin + 900 + ((taskIndex * 7919) % 400),
      });
      const failed = {
        ...run,
        replicaId: taskCount + taskIndex,
        accepted: false,
        disposition: ReplicaDisposition.FAILED,
        outcome: Outcome.FAILED,
        exitStatus: taskIndex % 5,
        reason: 'MUT_COMMAND_FAILED',
      };
      return aTask({ taskIndex, status: TaskStatus.FINISHED, replicas: taskIndex % 20 === 0 ? [failed, run] : [run] });
    }),
  );
}

async function measure(): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const [name, path] of [
    ['the grid at a glance', '/summary'],
    ['jobs', '/jobs'],
    ['machines', '/machines'],
    ['a page of tasks', '/jobs/1/tasks?page_size=100'],
    ['Gantt chart', '/jobs/1/gantt'],
    ['task times', '/jobs/1/times'],
    ['failures', '/jobs/1/failures'],
  ] as const) {
    const times: number[] = [];
    let bytes: Uint8Array = new Uint8Array();
    for (let round = 0; round < rounds; round += 1) {
      const began = performance.now();
      const answer = await server.inject({ url: `/api/v1${path}`, headers: webHeaders });
      times.push(performance.now() - began);
      bytes = answer.rawPayload;
      if (answer.statusCode !== 200) throw new Error(`${path}: ${answer.body.slice(0, 200)}`);
    }
    figures.push(
      below(`${name}, time`, median(times), 'ms', path.startsWith('/jobs/1/g') ? 1000 : 500),
      plain(`${name}, size`, bytes.length / 1024, 'KiB'),
      plain(`${name}, size compressed`, gzipSync(bytes).length / 1024, 'KiB'),
    );
  }
  return figures;
}

fill();
const { server } = makeGateway({
  grid: fakePageGrid(broker),
  clock: Date,
  userId: 'ana',
  home: '/',
  program: 'mutirao',
  directory: '/',
  version: '0',
  tokens: acceptToken(webToken, 'ana'),
  hosts: () => loopbackHosts(7777),
  files: () => makeStaticFiles(new Map()),
  log: quietLogger,
  instance: 'bench',
});
// Runs are read for the first time here: as many calls as it takes, each of a while.
const began = performance.now();
for (let read = 0; read < taskCount; )
  read = (await server.inject({ url: '/api/v1/jobs/1/failures', headers: webHeaders })).json<{
    read_task_count: number;
  }>().read_task_count;
const first = performance.now() - began;
report('documents of the page', [
  plain(`reading the runs of ${taskCount} tasks for the first time`, first, 'ms'),
  ...(await measure()),
]);
await server.close();
