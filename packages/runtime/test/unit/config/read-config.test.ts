import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  bytes,
  choice,
  duration,
  environmentName,
  flag,
  flagName,
  integer,
  list,
  readConfig,
  text,
  type ConfigSources,
} from '@mutirao/runtime/config';
import test, { type TestFn } from 'ava';

const specs = {
  address: text({ help: 'Where.', default: '127.0.0.1:0' }),
  batchMax: integer({ help: 'How many.', default: 256, min: 1, max: 1000 }),
  grace: duration({ help: 'How long.', default: 30_000 }),
  inlineMax: bytes({ help: 'How large.', default: 65_536 }),
  provider: list({ help: 'Whom.' }),
  noOp: flag({ help: 'Nothing.' }),
  policy: choice({ help: 'How.', words: ['fcfs', 'easy'], default: 'fcfs' }),
};

const suite = test as TestFn<{ folder: string; file: (content: unknown) => string }>;
suite.beforeEach((t) => {
  t.context.folder = mkdtempSync(join(tmpdir(), 'mutirao-config-'));
  t.context.file = (content) => {
    const path = join(t.context.folder, 'config.json');
    writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
    return path;
  };
});
suite.afterEach.always((t) => {
  rmSync(t.context.folder, { recursive: true, force: true });
});

const read = (sources: Partial<ConfigSources>): ReturnType<typeof readConfig<typeof specs>> =>
  readConfig('broker', specs, { flags: new Map(), environment: {}, file: undefined, ...sources });

suite('a comma within a value does not separate two values with names', (t) => {
  const { parse } = list({ help: 'Whom.', placeholder: 'ID=ADDRESS' });
  t.deepEqual(parse('a=1,b=2'), ['a=1', 'b=2']);
  t.deepEqual(parse('a=unix:/with,comma/x,b=2,'), ['a=unix:/with,comma/x', 'b=2']);
});

suite('defaults hold where nothing is given', (t) => {
  t.deepEqual(read({}), {
    address: '127.0.0.1:0',
    batchMax: 256,
    grace: 30_000,
    inlineMax: 65_536,
    provider: [],
    noOp: false,
    policy: 'fcfs',
  });
});

suite('a flag wins over the environment, that over the file', (t) => {
  const file = t.context.file({ batchMax: 1, grace: '1m', address: 'file:1' });
  const environment = { MUTIRAO_BROKER_BATCH_MAX: '2', MUTIRAO_BROKER_GRACE: '1h30m', MUTIRAO_BROKER_ADDRESS: '' };
  const config = read({ file, environment, flags: new Map([['batchMax', ['3']]]) });
  t.like(config, { batchMax: 3, grace: 5_400_000, address: 'file:1' });
});

suite('each kind reads its texts', (t) => {
  const given = (name: string, ...texts: string[]): unknown =>
    read({ flags: new Map([[name, texts]]) })[name as keyof typeof specs];
  t.is(given('grace', '250ms'), 250);
  t.is(given('grace', '1.5s'), 1500);
  t.is(given('grace', '90'), 90_000);
  t.is(given('inlineMax', '64K'), 65_536);
  t.is(given('inlineMax', '1.5GiB'), 1_610_612_736);
  t.is(given('inlineMax', '10'), 10);
  t.deepEqual(given('provider', 'a,b', 'c'), ['a', 'b', 'c']);
  t.is(given('noOp', 'true'), true);
  t.is(given('policy', 'easy'), 'easy');
  t.throws(() => given('batchMax', '5', '6'), {
    code: 'MUT_BAD_CONFIG',
    message: /^--batch-max is given 2 times, as "5" and "6"; expected it once/,
  });
});

suite('a value that cannot be read is reported with its place, what was found and what is wanted', (t) => {
  const refusal = (name: string, value: string): string =>
    t.throws(() => read({ flags: new Map([[name, [value]]]) }), { code: 'MUT_BAD_CONFIG' }).message;
  t.is(refusal('batchMax', '0'), '--batch-max is "0"; expected a whole number from 1 to 1000');
  t.is(refusal('batchMax', '1e2'), '--batch-max is "1e2"; expected a whole number from 1 to 1000');
  t.regex(refusal('grace', 'soon'), /expected a duration/);
  t.regex(refusal('inlineMax', '-1'), /expected a size/);
  t.regex(refusal('policy', 'sjf'), /expected one of fcfs, easy/);
  t.regex(refusal('noOp', 'maybe'), /expected true or false/);
  t.regex(
    t.throws(() => read({ environment: { MUTIRAO_BROKER_GRACE: 'x' } }), { code: 'MUT_BAD_CONFIG' }).message,
    /^MUTIRAO_BROKER_GRACE is "x"/,
  );
});

suite('a key of the file that is no option is refused, with the nearest one', (t) => {
  const file = t.context.file({ bachMax: 1 });
  t.regex(
    t.throws(() => read({ file }), { code: 'MUT_BAD_CONFIG' }).message,
    /unknown key "bachMax"; did you mean "batchMax"\?/,
  );
});

suite('a file takes numbers, truth values and arrays, and nothing else', (t) => {
  t.like(read({ file: t.context.file({ batchMax: 7, noOp: true, provider: ['a', 'b'] }) }), {
    batchMax: 7,
    noOp: true,
    provider: ['a', 'b'],
  });
  for (const content of ['{', [1], { grace: null }, { grace: {} }, '"x"']) {
    t.throws(() => read({ file: t.context.file(content) }), { code: 'MUT_BAD_CONFIG' }, JSON.stringify(content));
  }
  t.throws(() => read({ file: join(t.context.folder, 'none.json') }), { code: 'MUT_BAD_CONFIG' });
});

suite('names on the command line and in the environment follow from the option', (t) => {
  t.is(flagName('logLevel'), '--log-level');
  t.is(environmentName('broker', 'logLevel'), 'MUTIRAO_BROKER_LOG_LEVEL');
});

suite(
  'a variable that looks like an option and is none is refused with the nearest name, except for agents, whose ' +
    'environment providers fill in',
  (t) => {
    const environment = { MUTIRAO_BROKER_LOG_LEVL: 'debug', MUTIRAO_HOME: '/x', MUTIRAO_BROKER: '127.0.0.1:1' };
    const options = { logLevel: text({ help: 'How much.' }) };
    t.throws(() => readConfig('broker', options, { flags: new Map(), environment, file: undefined }), {
      code: 'MUT_BAD_CONFIG',
      message: /MUTIRAO_BROKER_LOG_LEVL, .* did you mean MUTIRAO_BROKER_LOG_LEVEL\?/,
    });
    t.notThrows(() => readConfig('provider', options, { flags: new Map(), environment, file: undefined }));
    t.notThrows(() =>
      readConfig('agent', options, { flags: new Map(), environment: { MUTIRAO_AGENT_LATER: 'x' }, file: undefined }),
    );
  },
);

suite('what Kubernetes sets for a service that is called mutirao-broker does not keep a broker from starting', (t) => {
  const options = { logLevel: text({ help: 'How much.' }) };
  const read = (environment: Readonly<Record<string, string>>): unknown =>
    readConfig('broker', options, { flags: new Map(), environment, file: undefined });
  t.notThrows(() =>
    read({
      MUTIRAO_BROKER_SERVICE_HOST: '10.0.0.1',
      MUTIRAO_BROKER_SERVICE_PORT: '7070',
      MUTIRAO_BROKER_SERVICE_PORT_GRPC: '7070',
      MUTIRAO_BROKER_PORT: 'tcp://10.0.0.1:7070',
      MUTIRAO_BROKER_PORT_7070_TCP: 'tcp://10.0.0.1:7070',
      MUTIRAO_BROKER_PORT_7070_TCP_PROTO: 'tcp',
      MUTIRAO_BROKER_PORT_7070_TCP_PORT: '7070',
      MUTIRAO_BROKER_PORT_7070_TCP_ADDR: '10.0.0.1',
    }),
  );
  t.throws(() => read({ MUTIRAO_BROKER_PORT: '7070' }), { code: 'MUT_BAD_CONFIG' });
});
