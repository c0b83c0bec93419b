import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { temporaryFolder, until } from '@mutirao/testkit';
import { removeUnderOtherName } from '@mutirao/runtime/files';
import { claimFolder, removeAbandoned } from '../../src/abandoned-folders.ts';

test('what a killed agent of this host left is removed; folders of live agents, of other hosts and of nobody stay', async (t) => {
  const agents = temporaryFolder(t);
  const getFolder = (name: string): string => path.join(agents, name);
  const claim = (name: string, changed: Record<string, unknown>): void => {
    claimFolder(getFolder(name), { machineId: name, isKept: false });
    const owner = path.join(getFolder(name), 'owner');
    writeFileSync(owner, JSON.stringify({ ...(JSON.parse(readFileSync(owner, 'utf8')) as object), ...changed }));
  };
  claim('alive', {});
  claim('another-process-of-that-number', { startedTicks: '1' });
  claim('before-a-restart', { run: 'another run' });
  claim('another-host', { host: 'elsewhere', run: 'another run', startedTicks: '1' });
  claim('another-container', { space: 'pid:[1]', startedTicks: '1' });
  mkdirSync(path.join(getFolder('lab_pc'), 'storage'), { recursive: true });
  mkdirSync(getFolder('half'));
  writeFileSync(path.join(getFolder('half'), 'owner'), '{"host":');
  await removeAbandoned(agents, () => {
    t.fail();
  });
  const left = [
    'alive',
    'another-process-of-that-number',
    'before-a-restart',
    'another-host',
    'another-container',
    'lab_pc',
    'half',
  ].filter((name) => existsSync(getFolder(name)));
  t.deepEqual(left, ['alive', 'another-host', 'another-container', 'lab_pc', 'half']);
});

test('a folder of agents that is not there is no error', async (t) => {
  await t.notThrowsAsync(
    removeAbandoned(path.join(temporaryFolder(t), 'absent'), () => {
      t.fail();
    }),
  );
});

test('an agent killed before it noted whose its folder is, or while that was being removed, leaves nothing for good', async (t) => {
  const agents = temporaryFolder(t);
  mkdirSync(path.join(agents, 'alpha_q1.2'));
  mkdirSync(path.join(agents, 'alpha_q1.3'));
  writeFileSync(path.join(agents, 'alpha_q1.3', 'owner'), '');
  mkdirSync(path.join(agents, '.removed-alpha_q1.4', 'storage'), { recursive: true });
  mkdirSync(path.join(agents, 'lab_pc', 'storage'), { recursive: true });
  mkdirSync(path.join(agents, '.contents'));
  await removeAbandoned(agents, () => {
    t.fail();
  });
  t.deepEqual(
    readdirSync(agents).sort(),
    ['.contents', 'alpha_q1.2', 'alpha_q1.3', 'lab_pc'],
    'their agents may be about to note it',
  );
  for (const name of readdirSync(agents)) utimesSync(path.join(agents, name), 1, 1);
  await removeAbandoned(agents, () => {
    t.fail();
  });
  t.deepEqual(readdirSync(agents).sort(), ['.contents', 'lab_pc'], 'what agents of this host share is empty at first');
});

test('a folder is removed also where one of that name was left while it was being removed', (t) => {
  const agents = temporaryFolder(t);
  for (const name of ['.removed-alpha_q1.2', 'alpha_q1.2', 'alpha_q1.3'])
    mkdirSync(path.join(agents, name, 'storage'), { recursive: true });
  for (const name of ['alpha_q1.2', 'alpha_q1.3', 'alpha_q1.4']) removeUnderOtherName(path.join(agents, name));
  t.deepEqual(readdirSync(agents), ['.removed-alpha_q1.2']);
});

test('where whose a folder is cannot be noted, nothing is left that looks as if it were', async (t) => {
  const agents = temporaryFolder(t);
  const folder = path.join(agents, 'alpha_q1.2');
  mkdirSync(folder);
  const limited = ['/bin/sh', '-c', 'trap "" XFSZ; ulimit -f 0; exec "$@"', 'sh'];
  const { begin, ended } = await startClaimer(t, [folder], limited);
  begin();
  t.deepEqual(await ended(), ['EFBIG']);
  t.deepEqual(readdirSync(folder), []);
});

test('a link where the note should be is replaced and not followed', (t) => {
  const folder = path.join(temporaryFolder(t), 'alpha_q1.2');
  mkdirSync(folder);
  symlinkSync('../elsewhere', path.join(folder, 'owner'));
  claimFolder(folder, { machineId: 'alpha/q1.2', isKept: false });
  t.deepEqual(
    [lstatSync(path.join(folder, 'owner')).isFile(), existsSync(path.join(folder, '../elsewhere'))],
    [true, false],
  );
});

/** What starts a process that claims folders once a line came in, prints how each claim ended, and stays. */
function claimer(folders: readonly string[]): string[] {
  const source = new URL('../../src/abandoned-folders.ts', import.meta.url).href;
  const program = `
    import { claimFolder } from ${JSON.stringify(source)};
    console.log('ready');
    process.stdin.once('data', () => {
      for (const folder of ${JSON.stringify(folders)}) {
        let how = 'claimed';
        try {
          claimFolder(folder, { machineId: 'lab/pc', isKept: false });
        } catch (error) {
          how = error.code;
        }
        console.log(how);
      }
      console.log('all');
    });`;
  return [process.execPath, '--input-type=module', '--eval', program];
}

/** Starts a claimer and waits until it can begin. */
async function startClaimer(
  t: ExecutionContext,
  folders: readonly string[],
  through: readonly string[] = [],
): Promise<{ begin(): void; ended(): Promise<string[]> }> {
  const [command = '', ...args] = [...through, ...claimer(folders)];
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  t.teardown(() => child.kill('SIGKILL'));
  let printed = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (printed += text));
  await until(() => printed.startsWith('ready\n'), 'the process is ready');
  return {
    begin: () => void child.stdin.write('go\n'),
    ended: async () => {
      await until(() => printed.endsWith('all\n'), 'the process has claimed all', 60_000);
      return printed.split('\n').slice(1, -2);
    },
  };
}

for (const before of ['nothing', "a killed agent's note"]) {
  test(`of processes that claim a folder at the same time, where it has ${before}, one gets it`, async (t) => {
    const agents = temporaryFolder(t);
    const folders = Array.from({ length: 60 }, (_, index) => path.join(agents, `lab_pc${index}`));
    if (before !== 'nothing')
      for (const folder of folders) {
        claimFolder(folder, { machineId: 'lab/pc', isKept: false });
        changeNote(path.join(folder, 'owner'), { startedTicks: '1', pid: process.ppid });
      }
    const claimers = await Promise.all([1, 2].map(async () => startClaimer(t, folders)));
    for (const { begin } of claimers) begin();
    const outcomes = await Promise.all(claimers.map(async ({ ended }) => ended()));
    for (const [index, folder] of folders.entries()) {
      const ofFolder = outcomes.map((outcome) => outcome[index]).sort();
      t.deepEqual(ofFolder, ['MUT_ALREADY_RUNNING', 'claimed'], folder);
      t.deepEqual(readdirSync(folder), ['owner']);
    }
  });
}

test('an agent that died while it replaced a note does not keep the folder from the next one', (t) => {
  const folder = path.join(temporaryFolder(t), 'lab_pc');
  const claim = { machineId: 'lab/pc', isKept: true };
  claimFolder(folder, claim);
  const note = path.join(folder, 'kept-by');
  changeNote(note, { startedTicks: '1' });
  const turn = `${note}.after-${createHash('sha256').update(readFileSync(note)).digest('hex').slice(0, 16)}`;
  writeFileSync(turn, readFileSync(note, 'utf8').replace('"startedTicks":"1"', '"startedTicks":"2"'));
  claimFolder(folder, claim);
  t.deepEqual(readdirSync(folder), ['kept-by']);
  t.not((JSON.parse(readFileSync(note, 'utf8')) as Noted).startedTicks, '1');
});

test('a folder that an agent took meanwhile is not removed, and one that is being removed is claimed once it is gone', async (t) => {
  const agents = temporaryFolder(t);
  const folders = Array.from({ length: 40 }, (_, index) => path.join(agents, `alpha_q1.${index}`));
  for (const folder of folders) {
    claimFolder(folder, { machineId: 'lab/pc', isKept: false });
    mkdirSync(path.join(folder, 'storage'));
    changeNote(path.join(folder, 'owner'), { startedTicks: '1', pid: process.ppid });
  }
  const claimer = await startClaimer(t, folders);
  claimer.begin();
  await removeAbandoned(agents, () => {
    t.fail();
  });
  t.deepEqual(new Set(await claimer.ended()), new Set(['claimed']));
  t.deepEqual(
    folders.filter((folder) => !existsSync(path.join(folder, 'owner'))),
    [],
  );
});

/** Changes what is noted of a folder. */
function changeNote(file: string, changed: Record<string, unknown>): void {
  writeFileSync(file, JSON.stringify({ ...(JSON.parse(readFileSync(file, 'utf8')) as object), ...changed }));
}

interface Noted {
  readonly pid: number;
  readonly startedTicks: string;
}

/** A process as its own note describes it, and its state. */
function describe(pid: number): Noted & { readonly state: string } {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return { pid, startedTicks: fields[19] ?? '', state: fields[0] ?? '' };
}

/** A process that lives as long as the test: the one that started this one. */
function anotherAgent(): Noted {
  const { pid, startedTicks } = describe(process.ppid);
  return { pid, startedTicks };
}

/** A process that has ended, whose parent lives and does not care. */
async function zombie(t: ExecutionContext): Promise<Noted> {
  const parent = spawn('sh', ['-c', 'sleep 1000 & echo $!; exec sleep 1000'], { stdio: ['ignore', 'pipe', 'ignore'] });
  t.teardown(() => parent.kill('SIGKILL'));
  const [said] = (await once(parent.stdout, 'data')) as [Buffer];
  const pid = Number(said.toString());
  await until(() => readFileSync(`/proc/${parent.pid}/comm`, 'utf8') === 'sleep\n', 'the parent has become sleep');
  process.kill(pid, 'SIGKILL');
  await until(() => describe(pid).state === 'Z', 'the process has ended');
  const { startedTicks } = describe(pid);
  return { pid, startedTicks };
}

test('an agent that has ended, and of whose end its parent takes no note, is gone', async (t) => {
  const agents = temporaryFolder(t);
  const ended = await zombie(t);
  const kept = { machineId: 'lab/pc', isKept: true };
  claimFolder(path.join(agents, 'lab_pc'), kept);
  changeNote(path.join(agents, 'lab_pc', 'kept-by'), { ...ended });
  t.notThrows(() => {
    claimFolder(path.join(agents, 'lab_pc'), kept);
  });
  claimFolder(path.join(agents, 'alpha_q1.0'), { machineId: 'alpha/q1.0', isKept: false });
  changeNote(path.join(agents, 'alpha_q1.0', 'owner'), { ...ended });
  await removeAbandoned(agents, () => {
    t.fail();
  });
  t.deepEqual(readdirSync(agents), ['lab_pc']);
});

for (const isKept of [false, true]) {
  const which = isKept ? "a machine's" : "an allocation's";
  test(`${which} folder that another agent of this host uses is refused, and nothing in it is changed; once that is gone it is taken`, (t) => {
    const folder = path.join(temporaryFolder(t), 'lab_pc');
    const claim = { machineId: 'lab/pc', isKept };
    claimFolder(folder, claim);
    t.notThrows(() => {
      claimFolder(folder, claim);
    }, 'a process may claim its own again');
    const note = path.join(folder, isKept ? 'kept-by' : 'owner');
    const other = anotherAgent();
    changeNote(note, { ...other });
    const before = readFileSync(note, 'utf8');
    t.throws(
      () => {
        claimFolder(folder, claim);
      },
      { code: 'MUT_ALREADY_RUNNING', message: new RegExp(`process ${other.pid} .*lab_pc`) },
    );
    t.is(readFileSync(note, 'utf8'), before);
    for (const changed of [{ startedTicks: '1' }, { host: 'elsewhere' }, { space: 'pid:[1]' }]) {
      writeFileSync(note, before);
      changeNote(note, changed);
      t.notThrows(() => {
        claimFolder(folder, claim);
      }, JSON.stringify(changed));
    }
  });
}

test('a folder that another machine has kept is refused by name, and a kept folder is never taken for abandoned', async (t) => {
  const agents = temporaryFolder(t);
  const folder = path.join(agents, 'a_b_c');
  claimFolder(folder, { machineId: 'a/b_c', isKept: true });
  t.throws(
    () => {
      claimFolder(folder, { machineId: 'a_b/c', isKept: true });
    },
    {
      code: 'MUT_BAD_CONFIG',
      message: /belongs to machine a\/b_c, and this agent is a_b\/c; choose another --machine-id/,
    },
  );
  changeNote(path.join(folder, 'kept-by'), { startedTicks: '1' });
  utimesSync(folder, 1, 1);
  await removeAbandoned(agents, () => {
    t.fail();
  });
  t.deepEqual(readdirSync(agents), ['a_b_c']);
});

test('a folder that another account made is refused', (t) => {
  if (process.getuid?.() !== 0) {
    t.pass('only root can make one');
    return;
  }
  const folder = path.join(temporaryFolder(t), 'lab_pc');
  mkdirSync(folder);
  chownSync(folder, 12_345, 12_345);
  t.throws(
    () => {
      claimFolder(folder, { machineId: 'lab/pc', isKept: true });
    },
    { code: 'MUT_BAD_CONFIG', message: /belongs to another account/ },
  );
  t.deepEqual(readdirSync(folder), []);
});
