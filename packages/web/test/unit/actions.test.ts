// What the page does: workflows, submissions, reservations, files to save.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import test, { type ExecutionContext } from 'ava';
import { Value } from 'typebox/value';

import {
  ProvisioningState,
  ReservationStatus,
  ResourceKind,
  type Reservation as ReservationWire,
  type Resource,
} from '@mutirao/api/reservation';
import { acceptToken } from '@mutirao/runtime/rpc';
import { quietLogger } from '@mutirao/runtime/log';
import {
  aJobSpec,
  aJobSummary,
  aLedgerRow,
  aMachineRecord,
  AnsweringBroker,
  aReplica,
  aTask,
  fakePageGrid,
  runCommandLine,
  temporaryFolder,
  webHeaders,
  webToken,
} from '@mutirao/testkit';
import { Outcome } from '@mutirao/api/machine';
import { JobStatus, TaskStatus } from '@mutirao/api/broker';
import {
  apiPrefix,
  routes,
  type BagSpec,
  type Problem,
  type RouteName,
  type RouteReply,
  type Workflow,
} from '../../src/schema/index.ts';
import { getDraft, readBag } from '../../client/src/model/bag-draft.ts';
import { loopbackHosts, makeGateway, makeStaticFiles, type Grid } from '../../src/server/index.ts';

const hostile = '</script><script>alert(1)</script><img src=x onerror=alert(1)>"\'&';

class Page {
  readonly broker = new AnsweringBroker();
  readonly #server;

  constructor(grid: Partial<Grid> = {}) {
    this.#server = makeGateway({
      grid: { ...fakePageGrid(this.broker), ...grid },
      clock: { now: () => 1_010_000 },
      userId: 'ana',
      home: '/home/ana/.mutirao',
      program: 'mutirao',
      directory: '/home/ana',
      version: '0',
      tokens: acceptToken(webToken, 'ana'),
      hosts: () => loopbackHosts(7777),
      files: () => makeStaticFiles(new Map()),
      log: quietLogger,
      instance: 'i1',
    }).server;
  }

  /** Calls, and holds the answer against its schema. */
  async call<N extends RouteName>(
    t: ExecutionContext,
    name: N,
    payload?: object,
    path: string = routes[name].path,
  ): Promise<RouteReply<N>> {
    const { statusCode, body } = await this.#inject(name, payload, path);
    t.is(statusCode, 200, body.slice(0, 500));
    const document = JSON.parse(body) as RouteReply<N>;
    t.deepEqual(
      Value.Errors(routes[name].reply, document).map(({ instancePath, message }) => `${instancePath} ${message}`),
      [],
      name,
    );
    return document;
  }

  async fails(
    name: RouteName,
    payload?: object,
    path: string = routes[name].path,
  ): Promise<Problem & { status: number }> {
    const { statusCode, body } = await this.#inject(name, payload, path);
    return { status: statusCode, ...(JSON.parse(body) as Problem) };
  }

  file(url: string) {
    return this.#server.inject({ url: `${apiPrefix}${url}`, headers: webHeaders });
  }

  #inject(name: RouteName, payload: object | undefined, path: string) {
    return this.#server.inject({
      method: routes[name].method,
      url: `${apiPrefix}${path}`,
      headers: webHeaders,
      ...(payload === undefined ? {} : { payload }),
    });
  }
}

const task = (id: string, given: Partial<Workflow['tasks'][number]> = {}): Workflow['tasks'][number] => ({
  id,
  kind: 'step',
  work: 1000,
  exchange: 0,
  processors_min: 1,
  processors_max: 1,
  command: `echo ${id}`,
  inputs: [],
  outputs: [],
  matrix: null,
  x: 0,
  y: 0,
  ...given,
});
const edge = (from: string, to: string): Workflow['edges'][number] => ({ from, to, data_bytes: 0, share: 0 });
const diamond: Workflow = {
  name: 'diamond',
  outputs: null,
  tasks: ['a', 'b', 'c', 'd'].map((id) => task(id)),
  edges: [edge('a', 'b'), edge('a', 'c'), edge('b', 'd'), edge('c', 'd')],
};

test('a job that runs is held, released, closed, and given another priority and limit; tasks are cancelled', async (t) => {
  const page = new Page();
  const last = (): unknown => page.broker.asked.at(-1);
  t.is((await page.call(t, 'holdTasks', {}, '/jobs/4/hold')).held_count, 3);
  t.deepEqual(last(), { method: 'holdTasks', request: { jobId: 4, taskIndexes: [] } });
  t.is((await page.call(t, 'releaseTasks', { task_indexes: [2] }, '/jobs/4/release')).released_count, 1);
  t.deepEqual(last(), { method: 'releaseTasks', request: { jobId: 4, taskIndexes: [2] } });
  await page.call(t, 'updateJob', { priority: -5 }, '/jobs/4/update');
  t.deepEqual(last(), { method: 'updateJob', request: { jobId: 4, priority: -5 } });
  await page.call(t, 'updateJob', { running_max: 0 }, '/jobs/4/update');
  t.deepEqual(last(), { method: 'updateJob', request: { jobId: 4, runningMax: 0 } });
  t.is((await page.call(t, 'cancelTasks', { task_indexes: [1, 2] }, '/jobs/4/cancel-tasks')).cancelled_count, 2);
  t.is((await page.call(t, 'closeJob', {}, '/jobs/4/close')).task_count, 12);
  for (const body of [{ priority: 1001 }, { priority: 0.5 }, { running_max: -1 }])
    t.is((await page.fails('updateJob', body, '/jobs/4/update')).status, 400);
  t.is((await page.fails('cancelTasks', { task_indexes: [] }, '/jobs/4/cancel-tasks')).status, 400);
});

test('a job that is submitted again asks for the same, and what the form cannot say is named', async (t) => {
  const specs: BagSpec[] = [
    { command: 'run {}', values: { kind: 'array', selector: '1-10' } },
    { command: 'run {}', values: { kind: 'array', selector: '10-90:20' }, label: 'sweep', retries: 7 },
    {
      command: 'cat {} x',
      values: { kind: 'list', values: ["a'b", 'c'] },
      put: ['in/{}', 'tool:bin/tool'],
      get: ['out:results/out-{}'],
      requirements: 'mem >= 100',
      check: 'test -s out',
      environment: { A: 'b=c' },
      processors: 2,
      run_time_ms_max: 90_000,
    },
    { command: 'make {}', values: { kind: 'list', values: ['x'] }, in_place: true, directory: '/home/ana/w' },
  ];
  for (const spec of specs) {
    const page = new Page();
    await page.call(t, 'submitBag', spec);
    const job = page.broker.submitted[0]?.job;
    page.broker.jobs = [aJobSummary()];
    page.broker.specs.set(1, job!);
    const { bag, left_out: left } = await page.call(t, 'getBagDraft', undefined, '/jobs/1/draft');
    t.deepEqual(left, []);
    const reading = readBag(getDraft(bag), []);
    if ('message' in reading) return t.fail(reading.message);
    await page.call(t, 'submitBag', reading.spec);
    t.deepEqual(page.broker.submitted[1]?.job, job);
  }
  const page = new Page();
  page.broker.jobs = [aJobSummary()];
  page.broker.specs.set(1, aJobSpec({ priority: 5, gang: true }));
  t.deepEqual((await page.call(t, 'getBagDraft', undefined, '/jobs/1/draft')).left_out, [
    'that tasks are gangs',
    'the priority',
  ]);
});

test('a retry uses the inputs as they were, or as they are now where that is asked for', async (t) => {
  const page = new Page();
  const asked = (): unknown => page.broker.asked.filter(({ method }) => method === 'retryTasks').at(-1)?.request;
  t.is((await page.call(t, 'retryTasks', {}, '/jobs/4/retry')).retried_count, 3);
  t.like(asked(), { jobId: 4, currentInputs: false });
  await page.call(t, 'retryTasks', { current_inputs: true, task_indexes: [2] }, '/jobs/4/retry');
  t.like(asked(), { jobId: 4, currentInputs: true, taskIndexes: [2] });
  t.is((await page.fails('retryTasks', { current_inputs: 'perhaps' }, '/jobs/4/retry')).status, 400);
});

test('a workflow comes back from each format as it went out, but for what the format lacks', async (t) => {
  const page = new Page();
  const { written_formats: formats } = await page.call(t, 'getWorkflowChoices');
  for (const format of formats.filter((name) => name !== 'dot' && name !== 'xml')) {
    const { text, losses } = await page.call(t, 'exportWorkflow', { workflow: diamond, format });
    const { workflow } = await page.call(t, 'importWorkflow', { text });
    t.deepEqual(
      workflow.tasks.map(({ id }) => id),
      ['a', 'b', 'c', 'd'],
      format,
    );
    t.deepEqual(workflow.edges.map(({ from, to }) => `${from}${to}`).sort(), ['ab', 'ac', 'bd', 'cd'], format);
    if (losses.every((loss) => !loss.includes('commands'))) t.regex(workflow.tasks[0]?.command ?? '', /echo a/, format);
  }
  const matrix = {
    ...diamond,
    tasks: diamond.tasks.map((one) => ({
      ...one,
      x: 30,
      y: 40,
      matrix: { operation: 'Q', dimension: 100, parameters: '' },
    })),
  };
  const { text } = await page.call(t, 'exportWorkflow', { workflow: matrix, format: 'xml' });
  t.like((await page.call(t, 'importWorkflow', { text })).workflow.tasks[0], {
    x: 30,
    y: 40,
    matrix: { operation: 'Q', dimension: 100 },
  });
  t.like(await page.fails('exportWorkflow', { workflow: diamond, format: 'xml' }), {
    status: 400,
    code: 'MUT_WORKFLOW_SYNTAX',
  });
  t.like(await page.fails('importWorkflow', { text: 'tasks:\n  a: {comand: x}\n' }), {
    status: 400,
    code: 'MUT_WORKFLOW_SYNTAX',
    line: 2,
  });
});

test('a workflow that can be drawn but not run is read with what is wrong and where; of tasks that share a name none is', async (t) => {
  const page = new Page();
  const cycle = await page.call(t, 'importWorkflow', {
    text: 'name: x\ntasks:\n  a: {command: "true", after: [b]}\n  b: {command: "true", after: [a]}\n',
    name: 'cycle.yaml',
  });
  t.is(cycle.workflow.edges.length, 2);
  t.regex(cycle.fault ?? '', /^cycle\.yaml:[34]:\d+: found .*(a|b)/);
  const nowhere = await page.call(t, 'importWorkflow', {
    text: 'tasks:\n  a: {command: "true", after: [gone]}\n',
    name: 'nowhere.yaml',
  });
  t.regex(nowhere.fault ?? '', /^nowhere\.yaml:2:\d+: found .*gone/);
  t.is((await page.call(t, 'importWorkflow', { text: 'tasks:\n  a: {command: "true"}\n' })).fault, null);
  const dax = '<adag name="x">\n <job id="a" name="p" runtime="1"/>\n <job id="a" name="p" runtime="1"/>\n</adag>';
  t.like(await page.fails('importWorkflow', { text: dax }), {
    status: 400,
    code: 'MUT_WORKFLOW_DUPLICATE_TASK',
    line: 3,
  });
});

test('a check names the task or the edge that is wrong, and returns b-levels and the critical path if none is', async (t) => {
  const page = new Page();
  const good = await page.call(t, 'checkWorkflow', {
    workflow: { ...diamond, tasks: [task('a'), task('b', { work: 5000 }), task('c'), task('d', { command: '' })] },
  });
  t.is(good.fault, null);
  t.deepEqual(good.b_level_s, [7, 6, 2, 1]);
  t.deepEqual(good.critical_path, ['a', 'b', 'd']);
  t.deepEqual(good.without_command, ['d']);
  const cycle = await page.call(t, 'checkWorkflow', {
    workflow: { ...diamond, edges: [...diamond.edges, edge('d', 'a')] },
  });
  t.is(cycle.fault?.code, 'MUT_WORKFLOW_CYCLE');
  t.truthy(cycle.fault?.edge);
  const twice = await page.call(t, 'checkWorkflow', {
    workflow: { ...diamond, edges: [...diamond.edges, edge('a', 'b')] },
  });
  t.like(twice.fault, { code: 'MUT_WORKFLOW_DUPLICATE_EDGE', edge: { from: 'a', to: 'b' }, task: null });
  const same = await page.call(t, 'checkWorkflow', { workflow: { ...diamond, tasks: [...diamond.tasks, task('b')] } });
  t.like(same.fault, { code: 'MUT_WORKFLOW_DUPLICATE_TASK', task: 'b', edge: null });
  t.is(
    (await page.call(t, 'checkWorkflow', { workflow: { ...diamond, tasks: [], edges: [] } })).fault?.code,
    'MUT_WORKFLOW_EMPTY',
  );
});

test('a plan by each algorithm keeps the order of the graph', async (t) => {
  const page = new Page();
  page.broker.machines = [
    aMachineRecord(),
    aMachineRecord({
      facts: {
        machineId: 'lab/m1',
        incarnation: 'x',
        processors: 1,
        attributes: {},
        requestId: '',
        sharedTokens: [],
        homeMarks: [],
      },
    }),
  ];
  const { algorithms } = await page.call(t, 'getWorkflowChoices');
  for (const algorithm of algorithms) {
    for (const platform of [
      { kind: 'grid' },
      { kind: 'uniform', processors: 2, speed_mflops: 500 },
      { kind: 'list', text: '1 one 10.0.0.1 1000\n2 two 10.0.0.2 2000\n' },
    ]) {
      const {
        placements,
        processors,
        makespan_s: makespan,
        bound_s: bound,
      } = await page.call(t, 'planWorkflow', { workflow: diamond, algorithm, platform });
      const at = new Map(placements.map((one) => [one.task, one]));
      for (const { from, to } of diamond.edges)
        t.true((at.get(from)?.end_s ?? NaN) <= (at.get(to)?.start_s ?? NaN) + 1e-9, `${algorithm} ${from} ${to}`);
      t.true(makespan >= bound);
      t.is(processors.length, platform.kind === 'grid' ? 3 : 2);
    }
  }
  t.like(await page.fails('planWorkflow', { workflow: diamond, algorithm: 'magic', platform: { kind: 'grid' } }), {
    status: 400,
    code: 'MUT_BAD_REQUEST',
  });
  t.like(
    await page.fails('planWorkflow', {
      workflow: { ...diamond, tasks: [task('a', { processors_min: 9, processors_max: 9 })], edges: [] },
      algorithm: 'heft',
      platform: { kind: 'grid' },
    }),
    { status: 400, code: 'MUT_WORKFLOW_WIDTH' },
  );
  const large = { ...diamond, edges: [], tasks: Array.from({ length: 2000 }, (_, index) => task(`t${index}`)) };
  t.like(
    await page.fails('planWorkflow', {
      workflow: large,
      algorithm: 'heft',
      platform: { kind: 'uniform', processors: 4096, speed_mflops: 1 },
    }),
    { status: 400, code: 'MUT_BAD_REQUEST' },
  );
});

test('memory and places at home of a workflow file are asked for when it is submitted, and tasks may start in its folder', async (t) => {
  const page = new Page();
  const text = `<adag name="x"><job id="a" name="p" runtime="1"><argument><filename file="in"/></argument><profile namespace="pegasus" key="memory">2048</profile>
    <uses file="in" link="input"><pfn url="/data/in-1" site="local"/></uses><uses file="tmp" link="output" transfer="false"/><uses file="out" link="output"/></job></adag>`;
  const { workflow } = await page.call(t, 'importWorkflow', { text });
  t.like(workflow.tasks[0], {
    memory_bytes: 2048 * 1024 ** 2,
    inputs: [{ name: 'in', bytes: 0, home: '/data/in-1' }],
    outputs: [
      { name: 'tmp', bytes: 0, comes_home: false },
      { name: 'out', bytes: 0 },
    ],
  });
  await page.call(t, 'submitWorkflow', { workflow, directory: '/w', in_place: true, task_command: 'p' });
  const job = page.broker.submitted[0]?.job;
  t.like(job, { workFolder: '/w', replicasMax: 1 });
  t.deepEqual(job?.groups[0]?.inputs[0]?.source, { source: { $case: 'localPath', value: '/data/in-1' } });
  t.deepEqual(
    job?.groups[0]?.outputs.map(({ localPath }) => localPath),
    ['', '/w/out'],
  );
});

test('a workflow is submitted with its edges, once for each key', async (t) => {
  const page = new Page();
  t.deepEqual(
    await page.call(t, 'submitWorkflow', {
      workflow: diamond,
      client_job_id: 'k1',
      scheduler: 'plan',
      directory: '/data',
    }),
    { job_id: 1, task_count: 4 },
  );
  const [request] = page.broker.submitted;
  t.is(request?.clientJobId, 'k1');
  t.like(request?.job, { label: 'diamond', homeDirectory: '/data' });
  t.deepEqual(
    request?.job?.edges.map(({ from, to }) => [from, to]),
    [
      [0, 1],
      [0, 2],
      [1, 3],
      [2, 3],
    ],
  );
  t.like(
    await page.fails('submitWorkflow', { workflow: { ...diamond, tasks: [task('a', { command: '' })], edges: [] } }),
    { status: 400, code: 'MUT_WORKFLOW_NO_COMMAND' },
  );
  t.like(await page.fails('submitWorkflow', { workflow: diamond, directory: 'relative' }), {
    status: 400,
    code: 'MUT_BAD_REQUEST',
  });
  t.is(page.broker.submitted.length, 1);
});

/**
 * Splits a text to paste into a shell into its words and the lines after it; the shell's standard input becomes a file
 * here.
 */
function readPasted(t: ExecutionContext, text: string): string[] {
  const [first = '', ...lines] = text.split('\n');
  const [, , end = ''] = /^(.*) <<'(\w+)'$/.exec(first) ?? [];
  if (end !== '') t.is(lines.indexOf(end), lines.length - 1, 'the lines end where they should');
  const list = join(temporaryFolder(t), 'lines');
  writeFileSync(list, lines.slice(0, -1).join('\n'));
  return readWords(first.replace(/ <<'\w+'$/, '')).map((word, index, all) =>
    all[index - 1] === '--each-line' && word === '-' ? list : word,
  );
}

test('a form is submitted as the bag that its command line would submit', async (t) => {
  const specs: BagSpec[] = [
    {
      command: 'echo {} | tr a-z A-Z',
      values: { kind: 'array', selector: '1-9:2' },
      label: "it's",
      retries: 0,
      replicas_max: 3,
      processors: 2,
      run_time_ms_max: 90_000,
    },
    {
      command: "printf '%s' {} > out.txt",
      values: { kind: 'list', values: ['a b', 'c'] },
      get: ['out.txt:results/{}.txt'],
      put: ['data/in.txt:in.txt'],
      environment: { A: 'x y' },
      check: 'test -s out.txt',
    },
    { command: 'true', values: { kind: 'single' }, requirements: 'os == linux' },
    {
      command: '-v "$HOME" `x` $(y)',
      values: { kind: 'list', values: ["it's", '-- ', 'a,b', 'END', '$(reboot)', '\\', ' '] },
      label: '--',
      check: '-x',
    },
    {
      command: './sim {}',
      values: { kind: 'array', selector: '1-3' },
      in_place: true,
      directory: '/home/ana',
      put: ['data/in.txt'],
      get: ['results/out-{}.txt', '/home/ana/logs/', 'x:elsewhere/'],
    },
    {
      command: 'cat {name} > out',
      values: { kind: 'csv', text: 'name,n\n"a,""b"" \'c\'",1\n; reboot,2\n' },
      get: ['-out:results/'],
    },
  ];
  for (const spec of specs) {
    const page = new Page();
    const { command_line: line } = await page.call(t, 'previewBag', spec);
    await page.call(t, 'submitBag', spec);
    const words = readPasted(t, line);
    t.deepEqual(words.slice(0, 4), ['cd', '/home/ana', '&&', 'mutirao']);
    const terminal = new AnsweringBroker();
    const { status, err } = await runCommandLine(words.slice(4), { broker: terminal, directory: '/home/ana' });
    t.is(status, 0, err);
    t.deepEqual(page.broker.submitted[0]?.job, terminal.submitted[0]?.job, line);
  }
});

/** Splits as a shell does what only our quoting made. */
function readWords(line: string): string[] {
  return [...line.matchAll(/(?:'[^']*'|\\'|"[^"]*"|[^\s'"\\])+/g)].map(([word]) =>
    word.replace(
      /'([^']*)'|\\(')|"([^"]*)"/g,
      (_found, single?: string, escaped?: string, double?: string) => single ?? escaped ?? double ?? '',
    ),
  );
}

test('rows of a CSV become command lines with each cell quoted', async (t) => {
  const page = new Page();
  const text = 'name,size\r\n"o\'neil; rm -rf /",3\r\n"with ""quotes"" and\nlines",4\r\n';
  const spec = { command: 'run --name {name} --size {size} --row {#} ${HOME}', values: { kind: 'csv', text } };
  const preview = await page.call(t, 'previewBag', spec);
  t.is(preview.task_count, 2);
  t.is(preview.first_commands[0], `run --name 'o'\\''neil; rm -rf /' --size 3 --row 0 \${HOME}`);
  await page.call(t, 'submitBag', spec);
  t.is(page.broker.submitted[0]?.job?.groups[0]?.command, 'eval {}');
  t.like(await page.fails('previewBag', { ...spec, command: 'run' }), { status: 400, code: 'MUT_BAD_REQUEST' });
  t.like(await page.fails('previewBag', { ...spec, values: { kind: 'csv', text: 'name\n"open' } }), {
    status: 400,
    code: 'MUT_BAD_REQUEST',
  });
  t.like(await page.fails('previewBag', { ...spec, values: { kind: 'csv', text: 'name\n' } }), { status: 400 });
  const { message } = await page.fails('previewBag', {
    ...spec,
    values: { kind: 'csv', text: 'name,size\na,1\n\n"b\nc"\n' },
  });
  t.is(message, 'line 4 of the CSV has 1 cells; expected 2, as its heading has');
  t.regex(
    (await page.fails('previewBag', { ...spec, values: { kind: 'csv', text: 'name,name\na,1\n' } })).message,
    /two columns of the CSV have the same name/,
  );
  t.regex(
    preview.command_line,
    /^# A file with one value per line cannot hold this: a value contains a line break\.\n/,
  );
});

test('a command with an open quote is refused, where each of its tasks would fail', async (t) => {
  const page = new Page();
  const bag = { command: "echo it's {}", values: { kind: 'array', selector: '1-3' } };
  for (const name of ['previewBag', 'submitBag'] as const)
    t.like(await page.fails(name, bag), {
      status: 400,
      message: "the command opens a ' that it does not close; expected one that closes it, or \\' for the character",
    });
  t.deepEqual(page.broker.submitted, []);
});

test('a range may be long, a list of numbers may not; an impossible value is refused', async (t) => {
  const page = new Page();
  const spec = { command: 'run {}', values: { kind: 'array', selector: '1-10000000' } };
  const preview = await page.call(t, 'previewBag', spec);
  t.deepEqual(
    [preview.task_count, preview.first_commands.at(-1), preview.command_line],
    [10_000_000, 'run 5', "cd /home/ana && mutirao job submit --array 1-10000000 -- 'run {}'"],
  );
  for (const [selector, message] of [
    ['1-9999999,5', /have 10000000 numbers; expected 100000 at most/],
    ['9-1', /expected a number from 9 on/],
    ['1-', /found the end/],
    ['1 - 3', /found/],
    ['', /fewer than 1|must/],
  ] as const) {
    t.regex(
      (await page.fails('previewBag', { ...spec, values: { kind: 'array', selector } })).message,
      message,
      selector,
    );
  }
  t.regex((await page.fails('previewBag', { ...spec, values: { kind: 'list', values: ['a\0b'] } })).message, /NUL/);
  const long = await page.call(t, 'previewBag', {
    ...spec,
    values: { kind: 'list', values: Array.from({ length: 501 }, (_, index) => `value ${index}`) },
  });
  t.regex(
    long.command_line,
    /^# Make values\.txt first, of 501 lines: too many to be shown\.\ncd \/home\/ana && mutirao job submit --each-line values\.txt -- 'run {}'$/,
  );
});

test('files that were dropped go to the broker as contents, and none leaves the playpen', async (t) => {
  const page = new Page();
  const files = [{ name: 'in.txt', content_base64: Buffer.from('hello').toString('base64') }];
  await page.call(t, 'submitBag', { command: 'cat in.txt', values: { kind: 'single' }, files });
  t.deepEqual(
    page.broker.uploaded.map((bytes) => Buffer.from(bytes).toString()),
    ['hello'],
  );
  const [input] = page.broker.submitted[0]?.job?.groups[0]?.inputs ?? [];
  t.is(input?.path, 'in.txt');
  t.is(input?.source?.source?.$case, 'content');
  t.like(
    await page.fails('submitBag', {
      command: 'true',
      values: { kind: 'single' },
      files: [{ name: '../../.bashrc', content_base64: '' }],
    }),
    { status: 400, code: 'MUT_PATH_LEAVES_ROOT' },
  );
  t.like(await page.fails('submitBag', { command: 'true', values: { kind: 'single' }, put: ['a:../b'] }), {
    status: 400,
    code: 'MUT_PATH_LEAVES_ROOT',
  });
  t.like(
    await page.fails('submitBag', {
      command: 'true',
      values: { kind: 'single' },
      files: [{ name: 'big', content_base64: Buffer.alloc(24 * 1024 * 1024 + 3).toString('base64') }],
    }),
    { status: 413, code: 'MUT_CONTENT_TOO_LARGE' },
  );
  t.is(page.broker.submitted.length, 1);
});

test('a dropped file may be called anything that a path of a job may be', async (t) => {
  const page = new Page();
  for (const name of ['a:b', '$TASK.txt'])
    t.like(
      await page.fails('submitBag', {
        command: 'true',
        values: { kind: 'single' },
        files: [{ name, content_base64: '' }],
      }),
      { status: 400, code: 'MUT_BAD_REQUEST' },
    );
  t.regex(
    (
      await page.fails('previewBag', {
        command: 'true',
        values: { kind: 'single' },
        files: [
          { name: 'a', content_base64: '' },
          { name: 'a', content_base64: '' },
        ],
      })
    ).message,
    /two files are called "a"/,
  );
  const odd = {
    command: 'true',
    values: { kind: 'single' } as const,
    files: [{ name: "-it's {}", content_base64: '' }],
  };
  await page.call(t, 'submitBag', odd);
  t.is(page.broker.submitted[0]?.job?.groups[0]?.inputs[0]?.path, "-it's {{}}", 'braces of a name stand for nothing');
  t.is(
    (await page.call(t, 'previewBag', odd)).command_line,
    `# Put '-it'\\''s {}' into /home/ana first: the page has copies.\n` +
      `cd /home/ana && mutirao job submit '--put=-it'\\''s {{}}' -- true`,
  );
});

test('a job file is checked where it is wrong, and submitted', async (t) => {
  const page = new Page();
  const good = 'job:\nlabel: copy\ntask:\nremote: true\ntask:\nremote: true\n';
  t.like(await page.call(t, 'checkJdf', { text: good }), { faults: [], label: 'copy', task_count: 2 });
  const text = 'job:\nlabel: copy\ntask:\nremot: true\nannotations: x\ntask:\ninit: putt a b\nremote: true\n';
  const bad = await page.call(t, 'checkJdf', { text });
  t.deepEqual(
    bad.faults.map(({ severity, line, column, nearest }) => [severity, line, column, nearest]),
    [
      ['error', 4, 1, 'remote'],
      ['error', 7, 7, 'put'],
      ['warning', 5, 1, null],
    ],
  );
  t.is(bad.task_count, 0);
  t.like(await page.fails('submitJdf', { text }), { status: 400, code: 'MUT_JDF_SYNTAX', line: 4 });
  t.deepEqual(await page.call(t, 'submitJdf', { text: good }), { job_id: 1, task_count: 2 });
  t.like(await page.fails('submitJdf', { text: 'job:\n' }), { status: 400 });
});

const resource: Resource = {
  resourceId: 'alpha',
  ownerId: 'bo',
  resourceType: '',
  kind: ResourceKind.UNITS,
  total: 4,
  unit: '',
  rules: undefined,
  failed: 0,
  failedUnits: [],
  maintenances: [],
  reservationCount: 2,
};
const reservation = (fields: Partial<ReservationWire>): ReservationWire => ({
  reservationId: 1,
  resourceId: 'alpha',
  userId: 'ana',
  status: ReservationStatus.CONFIRMED,
  startUnixMs: 1_020_000,
  endUnixMs: 1_030_000,
  amount: 2,
  units: [{ first: 0, count: 2 }],
  holdUntilUnixMs: 0,
  requestedUnixMs: 1_000_000,
  claimedUnixMs: 0,
  endedUnixMs: 0,
  revision: 1,
  reason: undefined,
  clientRequestId: '',
  claim: 'secret.claim',
  together: undefined,
  provisioning: undefined,
  ...fields,
});

test('a calendar shows what is taken, and whose it is as far as the viewer may see; claims stay where they are', async (t) => {
  const asked: unknown[] = [];
  const answer =
    <T>(value: T) =>
    (request?: unknown): Promise<T> => {
      asked.push(request);
      return Promise.resolve(value);
    };
  const refusal = {
    code: 'MUT_NO_PLACE',
    message: hostile,
    alternatives: [{ startUnixMs: 1, endUnixMs: 2, amount: 3, reason: { code: '', parameters: {}, text: 'later' } }],
    reason: undefined,
  };
  const page = new Page({
    findReservations: () => ({
      listResources: answer({ resources: [resource] }),
      getCalendar: answer({
        resource,
        fromUnixMs: 1_000_000,
        untilUnixMs: 1_040_000,
        slots: [
          { startUnixMs: 1_000_000, endUnixMs: 1_020_000, used: 0 },
          { startUnixMs: 1_020_000, endUnixMs: 1_040_000, used: 2 },
        ],
        truncated: false,
      }),
      listReservations: answer({
        reservations: [
          reservation({}),
          reservation({
            reservationId: 2,
            userId: 'bo',
            reason: { code: '', parameters: {}, text: hostile },
            provisioning: {
              status: ProvisioningState.HELD,
              heldUnits: 2,
              askedUnits: 0,
              askUnixMs: 0,
              expectedUnixMs: 0,
              reasons: [],
            },
          }),
        ],
        nextBeforeReservationId: 0,
      }),
      requestReservation: answer({ outcome: { $case: 'refusal' as const, value: refusal }, movedCount: 0 }),
      renegotiateReservation: answer({
        outcome: { $case: 'reservation' as const, value: reservation({ revision: 2 }) },
      }),
      cancelReservation: answer({ reservation: undefined }),
    }),
  });
  const calendar = await page.call(
    t,
    'getCalendar',
    undefined,
    '/reservations/calendar?resource_id=alpha&from_unix_ms=1000000&until_unix_ms=1040000',
  );
  t.is(calendar.utilisation, 0.25);
  t.deepEqual(
    calendar.reservations.map(({ user_id: user, is_mine: mine }) => [user, mine]),
    [
      ['ana', true],
      ['bo', false],
    ],
  );
  t.false(JSON.stringify(await page.call(t, 'listReservations')).includes('secret'));
  t.is((await page.call(t, 'listResources')).resources[0]?.total, 4);
  const refused = await page.call(t, 'requestReservation', {
    resource_id: 'alpha',
    quantity: '50%',
    duration_ms: 1000,
    client_request_id: 'k',
  });
  t.like(refused, { placed: false, code: 'MUT_NO_PLACE', message: hostile });
  t.is(refused.alternatives[0]?.reason?.text, 'later');
  t.true(
    (await page.call(t, 'renegotiateReservation', { quantity: '2', duration_ms: 1000 }, '/reservations/1/renegotiate'))
      .placed,
  );
  t.deepEqual(await page.call(t, 'cancelReservation', { reason: 'no need' }, '/reservations/1/cancel'), { done: true });
  t.deepEqual(asked.at(-1), { reservationId: 1, reason: 'no need' });
  t.like(await new Page().fails('listResources'), { status: 404, code: 'MUT_NOT_FOUND' });
});

function failedJob(page: Page): void {
  page.broker.jobs = [
    aJobSummary({ status: JobStatus.FAILED, label: hostile, taskCount: 2, finishedCount: 1, failedCount: 1 }),
  ];
  page.broker.specs.set(1, aJobSpec({ label: hostile }));
  const failed = aReplica({
    replicaId: 2,
    machineId: '=cmd|calc',
    accepted: false,
    outcome: Outcome.FAILED,
    exitStatus: 2,
    detail: { code: '', parameters: {}, text: `${hostile}, twice\n` },
  });
  page.broker.tasks.set(1, [
    aTask({ value: hostile }),
    aTask({ taskIndex: 1, status: TaskStatus.FAILED, replicas: [failed] }),
  ]);
  page.broker.outputs.set('1/1', {
    replicaId: 2,
    standardOutput: Buffer.from(hostile),
    standardError: Buffer.from(`${hostile}\0`),
    truncated: false,
    files: [],
  });
  page.broker.ledger = [aLedgerRow()];
}

test('what ran can be saved as CSV, JSON and SVG; nothing in it is a formula, or markup', async (t) => {
  const page = new Page();
  failedJob(page);
  const csv = await page.file('/jobs/1/download?what=replicas&format=csv');
  t.is(csv.headers['content-disposition'], 'attachment; filename="job-1-replicas.csv"');
  t.regex(csv.body, /^task_index,replica_id,/);
  t.regex(csv.body, /,'=cmd\|calc,/);
  t.true(csv.body.includes('""\'&, twice\n"'));
  t.is((await page.file('/jobs/1/download?what=replicas&format=json')).json<unknown[]>().length, 2);
  t.regex(
    (await page.file('/jobs/1/download?what=ledger&format=csv')).body,
    /^provider_id,request_id,ended,requested_processor_ms.*\r\nalpha,1,true,480000,/,
  );
  const svg = await page.file('/jobs/1/download?what=gantt&format=svg');
  t.is(svg.headers['content-type'], 'image/svg+xml');
  t.regex(svg.body, /^<svg .*<\/svg>$/s);
  t.notRegex(svg.body, /<script|<img|onerror=alert\(1\)>/);
  t.regex(
    (await page.file('/jobs/1/download?what=failures&format=csv')).body,
    /^task_index,replica_id,machine_id,cause.*\r\n1,2,'=cmd\|calc,exit status 2,/,
  );
  t.regex((await page.file('/jobs/1/download?what=times&format=csv')).body, /^from_ms,until_ms,accepted,other\r\n0,/);
  t.is((await page.file('/jobs/1/download?what=stragglers&format=json')).body, '[]');
  for (const [what, words] of [
    ['times', 'Task times'],
    ['stragglers', 'Stragglers'],
  ])
    t.true((await page.file(`/jobs/1/download?what=${what}&format=svg`)).body.includes(`<title>${words}</title>`));
  for (const query of ['what=replicas&format=svg', 'what=odd&format=csv', ''])
    t.is((await page.file(`/jobs/1/download?${query}`)).statusCode, 400);
});

test('the report is one file that fetches nothing and runs its own script alone, whatever tasks printed', async (t) => {
  const page = new Page();
  failedJob(page);
  const { body, headers } = await page.file('/jobs/1/download?what=report&format=html');
  t.is(headers['content-disposition'], 'attachment; filename="job-1-report.html"');
  // What its own elements of script hold cannot end them; the rest is as it is without a script.
  const markup = body.replaceAll(/<script( type="application\/json" id="report-data")?>.*?<\/script>/gs, '');
  t.notRegex(markup, /<script|<img|<link|<iframe|javascript:|\bon\w+="/i);
  t.notRegex(markup, /<[^>]* (?:src|href)=/i);
  t.true(body.includes('&lt;/script&gt;&lt;script&gt;alert(1)'));
  t.true(body.includes("default-src 'none'"));
  t.regex(body, /exit status 2/);
});
