import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MutiraoError } from '@mutirao/api/errors';
import { InvariantError } from '@mutirao/core/shared';
import { defineProgram, integer, flag, text, type ProgramContext, type ProgramHost } from '@mutirao/runtime/program';
import test, { type TestFn } from 'ava';

/** A process that only notes what is done to it. */
class FakeHost implements ProgramHost {
  readonly environment: Record<string, string> = {};
  readonly exits: number[] = [];
  readonly signals = new Map<string, () => void>();
  out = '';
  errors = '';
  uncaught: (error: unknown) => void = () => undefined;
  writeOut(words: string): void {
    this.out += words;
  }
  writeError(words: string): void {
    this.errors += words;
  }
  exit(status: number): void {
    this.exits.push(status);
  }
  onSignal(name: string, listener: () => void): void {
    this.signals.set(name, listener);
  }
  inputEnd: (() => void) | undefined;
  onInputEnd(listener: () => void): void {
    this.inputEnd = listener;
  }
  onUncaught(listener: (error: unknown) => void): void {
    this.uncaught = listener;
  }
}

const suite = test as TestFn<{ home: string; host: FakeHost; main: (run: Run, ...argv: string[]) => Promise<void> }>;
type Run = (
  config: { readonly width: number; readonly address: string; readonly isFast: boolean },
  context: ProgramContext,
) => Promise<void>;

suite.beforeEach((t) => {
  const host = new FakeHost();
  t.context.host = host;
  t.context.home = mkdtempSync(join(tmpdir(), 'mutirao-program-'));
  host.environment['MUTIRAO_HOME'] = t.context.home;
  const options = {
    width: integer({ help: 'How wide.', default: 4, min: 1, max: 9 }),
    address: text({ help: 'Where to listen.', placeholder: 'HOST:PORT', default: '127.0.0.1:0' }),
    isFast: flag({ help: 'Hurry.' }),
  };
  t.context.main = (run, ...argv) =>
    defineProgram({ name: 'sample', summary: 'Shows how.', options, run }, host)(['--log-level', 'silent', ...argv]);
});
suite.afterEach.always((t) => {
  rmSync(t.context.home, { recursive: true, force: true });
});

suite('a program gets its options, its home, and ends with 0', async (t) => {
  let seen: unknown;
  await t.context.main(
    async (config, { home }) => {
      seen = { ...config, home };
    },
    '--width',
    '7',
    '--is-fast',
  );
  t.like(seen, { width: 7, address: '127.0.0.1:0', isFast: true, home: t.context.home });
  t.deepEqual(t.context.host.exits, [0]);
});

suite('help names each option with its default, and says how to set it in the environment', async (t) => {
  await t.context.main(async () => {
    t.fail();
  }, '--help');
  t.deepEqual(t.context.host.exits, [0]);
  t.regex(t.context.host.out, /Usage: mutirao run sample/);
  t.regex(t.context.host.out.replaceAll(/\s+/g, ' '), /--width <N> How wide\. \(default: 4\)/);
  t.regex(t.context.host.out.replaceAll(/\s+/g, ' '), /in the environment, as MUTIRAO_SAMPLE_WIDTH for --width,/);
  t.regex(t.context.host.out, /--config <FILE>/);
});

for (const [what, argv] of [
  ['an unknown flag', ['--wide', '1']],
  ['a value out of range', ['--width', '10']],
  ['a word too many', ['extra']],
  ['no value', ['--width']],
] as const) {
  suite(`${what} is wrong use: exit 2, and nothing runs`, async (t) => {
    await t.context.main(
      async () => {
        t.fail();
      },
      ...argv,
    );
    t.deepEqual(t.context.host.exits, [2]);
    t.not(t.context.host.errors, '');
  });
}

suite('an option that is given twice is wrong use, and the message has both values', async (t) => {
  await t.context.main(
    async () => {
      t.fail();
    },
    '--width',
    '7',
    '--is-fast',
    '--width=8',
  );
  t.deepEqual(t.context.host.exits, [2]);
  t.regex(t.context.host.errors, /mutirao sample: --width is given 2 times, as "7" and "8"; expected it once/);
});

suite('a flag may be repeated, since that changes nothing', async (t) => {
  await t.context.main(
    async ({ isFast }) => {
      t.true(isFast);
    },
    '--is-fast',
    '--is-fast',
  );
  t.deepEqual(t.context.host.exits, [0]);
});

suite('several values in the configuration file for an option of one value are refused', async (t) => {
  const file = join(t.context.home, 'config.json');
  writeFileSync(file, '{ "width": [7, 8] }');
  await t.context.main(
    async () => {
      t.fail();
    },
    '--config',
    file,
  );
  t.deepEqual(t.context.host.exits, [2]);
});

suite('on a leash the end of standard input asks to drain; without one nobody listens to it', async (t) => {
  const { host, main } = t.context;
  await main(async () => undefined);
  t.is(host.inputEnd, undefined);
  let signal: AbortSignal | undefined;
  await main(async (_config, context) => {
    ({ signal } = context);
  }, '--leash');
  t.false(signal?.aborted);
  host.inputEnd?.();
  t.true(signal?.aborted);
});

suite('the first signal asks to drain, the second ends at once', async (t) => {
  const { host, main } = t.context;
  const drained = Promise.withResolvers<void>();
  let signal: AbortSignal | undefined;
  const ended = main((_config, context) => {
    signal = context.signal;
    return drained.promise;
  });
  host.signals.get('SIGTERM')?.();
  t.true(signal?.aborted);
  t.deepEqual(host.exits, []);
  host.signals.get('SIGINT')?.();
  t.deepEqual(host.exits, [130]);
  drained.resolve();
  await ended;
  t.deepEqual(host.exits, [130, 0]);
});

suite('a bug ends with 70 and leaves a dump of the error and of what the parts tell', async (t) => {
  await t.context.main((_config, { addToDump }) => {
    addToDump('state', () => ({ answer: 42 }));
    addToDump('broken', () => {
      throw new Error('cannot tell');
    });
    return Promise.reject(new InvariantError('two and two is five'));
  });
  t.deepEqual(t.context.host.exits, [70]);
  const [dump = ''] = readdirSync(join(t.context.home, 'crashes'));
  const content = readFileSync(join(t.context.home, 'crashes', dump), 'utf8');
  for (const pattern of [/two and two is five/, /answer: 42/, /cannot tell/, /width: 4/]) t.regex(content, pattern);
});

suite('an error that nobody caught, or that a driver cannot mend, ends the process as a bug', async (t) => {
  await t.context.main(async (_config, { fail }) => {
    fail(new Error('lost'));
  });
  t.context.host.uncaught(new Error('uncaught'));
  t.deepEqual(t.context.host.exits, [70, 0, 70]);
});

suite('an operating error ends with 3, and one that the user mends at home with 2', async (t) => {
  await t.context.main(() => Promise.reject(new MutiraoError('MUT_UNREACHABLE', 'nobody there')));
  await t.context.main(() => Promise.reject(new MutiraoError('MUT_LOOPBACK_ONLY', 'address is 0.0.0.0')));
  t.deepEqual(t.context.host.exits, [3, 2]);
});

suite('what finds no room on a disk is an operating error, not a bug that leaves a dump', async (t) => {
  const full = Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
  await t.context.main(() => Promise.reject(full));
  await t.context.main(() => Promise.reject(new Error('the journal cannot be written', { cause: full })));
  t.deepEqual(t.context.host.exits, [3, 3]);
  t.deepEqual(readdirSync(t.context.home), []);
});

suite(
  "a path that cannot be used is the user's to put right, not a bug that leaves a dump; an error that names none " +
    'is a bug',
  async (t) => {
    for (const code of ['EACCES', 'ENOTDIR', 'EROFS']) {
      await t.context.main(() =>
        Promise.reject(Object.assign(new Error(`${code}: mkdir '/x/y'`), { code, path: '/x/y' })),
      );
    }
    t.deepEqual(t.context.host.exits, [2, 2, 2]);
    t.deepEqual(readdirSync(t.context.home), []);
    await t.context.main(() => Promise.reject(Object.assign(new Error('EACCES: kill'), { code: 'EACCES' })));
    t.is(t.context.host.exits.at(-1), 70);
  },
);

suite('words after -- are passed on as they are where the program says what they mean, and refused elsewhere', async (t) => {
  const { host, home } = t.context;
  let passedOn: readonly string[] = [];
  const run = (_config: unknown, context: ProgramContext): Promise<void> => {
    passedOn = context.passedOn;
    return Promise.resolve();
  };
  const options = { isFast: flag({ help: 'Hurry.' }) };
  const argv = [
    '--log-level',
    'silent',
    '--home',
    home,
    '--is-fast',
    '--',
    '--comment=two words',
    '--help',
    '--',
    '-x',
  ];
  await defineProgram(
    { name: 'sample', summary: 'Shows how.', options, passesOn: 'They are passed on.', run },
    host,
  )(argv);
  t.deepEqual(passedOn, ['--comment=two words', '--help', '--', '-x']);
  t.deepEqual(host.exits, [0]);
  await defineProgram({ name: 'sample', summary: 'Shows how.', options, run }, host)(argv);
  t.deepEqual(host.exits, [0, 2]);
});
