import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { JobList, JobRow, StreamTopic } from '@mutirao/web/schema';
import { fakeFailures, fakeGantt, fakeGraph, fakeOutput, fakeTask, fakeTasks, fakeTimes } from './fake-job.ts';
import { FakePageGrid, type FakePageOptions } from './fake-page-grid.ts';

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};
const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; font-src 'self'; " +
  "connect-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** Where a faked gateway is, and how to make it go away. */
export interface FakeGateway {
  readonly address: string;
  /** The address for a browser, with the token. */
  readonly url: string;
  /** The calls that would have changed something, by their paths. */
  readonly posted: readonly string[];
  /** Says from now on that the broker is away, or that it is back. */
  setAway(isAway: boolean): void;
  close(): Promise<void>;
}

/**
 * Serves the built page over a fake grid, to look at the page and to measure it with more tasks and machines than a
 * host has. It is read-only.
 */
export async function startFakeGateway(
  options: FakePageOptions & { readonly folder: string; readonly port?: number },
): Promise<FakeGateway> {
  const grid = new FakePageGrid(options, Date.now());
  const streams = new Set<ServerResponse>();
  let isAway = false;
  const posted: string[] = [];
  const server: Server = createServer((request, reply) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://page');
    if (!pathname.startsWith('/api/v1/')) {
      sendFile(options.folder, pathname, { request, reply });
      return;
    }
    if (request.headers.authorization !== 'Bearer faked') {
      sendJson(reply, 401, {
        code: 'MUT_UNAUTHENTICATED',
        message: 'the token is missing or wrong',
        advice: '',
        retryable: false,
      });
      return;
    }
    if (pathname === '/api/v1/events') {
      openStream(
        { grid, streams, isAway: () => isAway },
        {
          request,
          reply,
          topics: (searchParams.get('topics') ?? '').split(',') as StreamTopic[],
          jobId: Number(searchParams.get('job')),
        },
      );
      return;
    }
    if (pathname.endsWith('/tail')) {
      sendTail(request, reply);
      return;
    }
    if (request.method === 'POST') {
      posted.push(pathname.slice('/api/v1'.length));
      sendJson(reply, 200, postedAnswer);
      return;
    }
    const answer = getAnswer(grid, pathname.slice('/api/v1'.length), searchParams);
    if (answer === undefined)
      sendJson(reply, 404, {
        code: 'MUT_NOT_FOUND',
        message: `${pathname} is not faked`,
        advice: '',
        retryable: false,
      });
    else sendJson(reply, 200, answer);
  });
  await new Promise<void>((resolve) => {
    server.listen(options.port ?? 0, '127.0.0.1', resolve);
  });
  const address = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    address,
    url: `http://${address}/#token=faked`,
    posted,
    setAway: (next) => {
      isAway = next;
    },
    close: async () => {
      for (const stream of streams) stream.destroy();
      server.closeAllConnections();
      await new Promise((resolve) => {
        server.close(resolve);
      });
    },
  };
}

function sendJson(reply: ServerResponse, status: number, document: unknown): void {
  reply
    .writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' })
    .end(JSON.stringify(document));
}

function sendFile(
  folder: string,
  path: string,
  { request, reply }: { readonly request: IncomingMessage; readonly reply: ServerResponse },
): void {
  const name = path.includes('.') && !path.includes('..') ? path : '/index.html';
  const bytes = readIfThere(join(folder, name));
  if (bytes === undefined) {
    reply.writeHead(404).end();
    return;
  }
  const accepted = String(request.headers['accept-encoding'] ?? '');
  const brotli = accepted.includes('br') ? readIfThere(join(folder, `${name}.br`)) : undefined;
  const [encoding, body] = brotli === undefined ? (['gzip', gzipSync(bytes)] as const) : (['br', brotli] as const);
  reply
    .writeHead(200, {
      'content-type': types[extname(name)] ?? 'application/octet-stream',
      'content-encoding': encoding,
      'content-security-policy': policy,
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-cache',
    })
    .end(body);
}

/** What any call is answered that would change something: what each of them needs of it. */
const postedAnswer = {
  done: true,
  held_count: 3,
  released_count: 3,
  retried_count: 1,
  task_count: 3,
  job_id: 42,
  first_commands: ['echo 1'],
  command_line: "cd /home/rosa && mutirao job submit -- 'echo {}'",
};

/** A task that prints a line in red ten times a second. */
function sendTail(request: IncomingMessage, reply: ServerResponse): void {
  reply.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-store' });
  let count = 0;
  const timer = setInterval(() => {
    count += 1;
    const message = {
      status: 'running',
      replica_id: 88,
      machine_id: 'lab-n002',
      standard_output: `step ${count} \u001b[31mred\u001b[0m <b>\n`,
      standard_error: '',
      is_cut: false,
      is_unreadable: false,
    };
    reply.write(`event: output\ndata: ${JSON.stringify(message)}\n\n`);
  }, 100);
  request.on('close', () => clearInterval(timer));
}

function readIfThere(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch {
    return undefined;
  }
}

interface Streaming {
  readonly grid: FakePageGrid;
  readonly streams: Set<ServerResponse>;
  isAway(): boolean;
}

function openStream(
  { grid, streams, isAway }: Streaming,
  {
    request,
    reply,
    topics,
    jobId,
  }: {
    readonly request: IncomingMessage;
    readonly reply: ServerResponse;
    readonly topics: readonly StreamTopic[];
    readonly jobId: number;
  },
): void {
  reply.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-store' });
  streams.add(reply);
  const last = new Map<string, string>();
  let [version, sequence] = [0, 1];
  const send = (topic: string, value: unknown): void => {
    const data = JSON.stringify(value);
    if (last.get(topic) === data || reply.writableLength > 1_000_000) return;
    last.set(topic, data);
    version += 1;
    reply.write(`id: x.${version}\nevent: ${topic}\ndata: ${data}\n\n`);
  };
  const tick = (): void => {
    const now = Date.now();
    const away = isAway();
    send('link', {
      connected: !away,
      since_unix_ms: grid.startedAt,
      code: away ? 'MUT_UNREACHABLE' : '',
      message: away ? 'Nothing listens at 127.0.0.1:4000.' : '',
    });
    if (away) return;
    const levels: Partial<Record<StreamTopic, () => unknown>> = {
      summary: () => grid.summary(now),
      jobs: () => ({ jobs: grid.jobRows(now).slice(0, 100), next_before_job_id: null }),
      machines: () => grid.machines(now),
      providers: () => grid.providers(),
      ledger: () => grid.ledger(),
      job: () => grid.jobDetail(jobId, now),
      events: () => {
        sequence += grid.options.finishedPerSecond > 0 || sequence === 1 ? 12 : 0;
        return { events: grid.events(now, sequence - 12), is_sampled: grid.options.finishedPerSecond > 1000 };
      },
    };
    for (const topic of topics) {
      if (topic === 'events' && grid.options.finishedPerSecond === 0 && last.has('events')) continue;
      const level = levels[topic];
      if (level !== undefined) send(topic, level());
    }
  };
  tick();
  const timer = setInterval(tick, 100);
  request.on('close', () => {
    clearInterval(timer);
    streams.delete(reply);
  });
}

/** What a call is answered; undefined for what is not faked. */
function getAnswer(grid: FakePageGrid, path: string, query: URLSearchParams): unknown {
  const now = Date.now();
  const [, area = '', first = '', second = '', third = '', fourth = ''] = path.split('/').map(decodeURIComponent);
  if (area === 'jobs' && first !== '') return ofJob(grid, { first, second, third, fourth, query, now });
  const answers: Readonly<Record<string, () => unknown>> = {
    session: () => ({
      version: '0.1.0',
      user_id: 'rosa',
      home: '/home/rosa/.mutirao',
      directory: '/home/rosa',
      broker: '127.0.0.1:4000',
      has_reservations: false,
      body_bytes_max: 33_554_432,
    }),
    summary: () => grid.summary(now),
    history: () => grid.history(now, Number(query.get('minutes') ?? 10)),
    jobs: () =>
      getPage(grid.jobRows(now), {
        size: Number(query.get('page_size') ?? 100),
        before: Number(query.get('before_job_id') ?? Infinity),
      }),
    'job-rows': () => ({
      jobs: grid
        .jobRows(now)
        .filter(({ job_id: jobId }) => (query.get('job_ids') ?? '').split(',').includes(String(jobId))),
    }),
    machines: () => grid.machines(now),
    machine: () => ({
      machine: machineNamed(query.get('machine_id') ?? '', now),
      running: [
        {
          job_id: 42,
          task_index: 812,
          value: 'ligand-812',
          replica_id: 9001,
          dispatched_unix_ms: now - 41_000,
          started_unix_ms: now - 38_000,
          processors: 1,
          memory_bytes: 24e9,
          gpu_thousandths: 500,
        },
      ],
      is_complete: true,
    }),
    providers: () => (first === '' ? grid.providers() : grid.provider(first)),
    ledger: () => grid.ledger(),
    explain: () => grid.explanation(`Request ${query.get('request') ?? ''}`),
  };
  return answers[area]?.();
}

function ofJob(
  grid: FakePageGrid,
  {
    first,
    second,
    third,
    fourth,
    query,
    now,
  }: Readonly<Record<'first' | 'second' | 'third' | 'fourth', string>> & {
    readonly query: URLSearchParams;
    readonly now: number;
  },
): unknown {
  const jobId = Number(first);
  return second === 'tasks' && third === ''
    ? fakeTasks(jobId, grid.jobDetail(jobId, now)?.job.task_count ?? 0, query, now)
    : jobAnswer(grid, { jobId, part: second, taskIndex: Number(third), taskPart: fourth, now });
}

function getPage(
  rows: readonly JobRow[],
  { size, before }: { readonly size: number; readonly before: number },
): JobList {
  const jobs = rows.filter(({ job_id: jobId }) => jobId < before).slice(0, size);
  // Lists of old jobs have no estimates.
  const plain = jobs.map((row) => ({ ...row, remaining_ms_min: null, remaining_ms_max: null }));
  return { jobs: plain, next_before_job_id: jobs.length < size ? null : (jobs.at(-1)?.job_id ?? null) };
}

function machineNamed(machineId: string, now: number): unknown {
  return {
    machine_id: machineId,
    provider_id: machineId.split('-')[0],
    status: 'busy',
    processors: 2,
    running_count: 2,
    waiting_count: 1,
    finished_count: 214,
    failed_count: 1,
    joined_unix_ms: now - 1_900_000,
    until_unix_ms: now + 1_700_000,
    request_id: 'alpha/q1',
    memory_bytes: 64e9,
    gpus: [{ kind: 'a100', count: 2 }],
    attributes: { mem: 64_000 },
    credibility: 0.9991,
  };
}

function jobAnswer(
  grid: FakePageGrid,
  {
    jobId,
    part,
    taskIndex,
    taskPart,
    now,
  }: {
    readonly jobId: number;
    readonly part: string;
    readonly taskIndex: number;
    readonly taskPart: string;
    readonly now: number;
  },
): unknown {
  if (part === 'tasks')
    return taskPart === 'output'
      ? fakeOutput(jobId, taskIndex)
      : taskPart === 'explain'
        ? grid.explanation(`Task ${taskIndex} of job ${jobId}`)
        : fakeTask(jobId, taskIndex, now);
  switch (part) {
    case '':
      return grid.jobDetail(jobId, now);
    case 'draft':
      return { bag: { command: './dock {}', values: { kind: 'array', selector: '1-9' } }, left_out: ['the priority'] };
    case 'gantt':
      return fakeGantt(jobId, grid.startedAt - 3_600_000, grid.options.machineCount);
    case 'times':
      return fakeTimes(jobId);
    case 'failures':
      return fakeFailures(jobId);
    case 'ledger':
      return { ...grid.ledger(), job_id: jobId };
    case 'graph':
      return fakeGraph(jobId, grid.startedAt);
    case 'explain':
      return grid.explanation(`Job ${jobId}`);
    default:
      return undefined;
  }
}
