import { writeFileSync } from 'node:fs';
import path from 'node:path';
import test, { type ExecutionContext } from 'ava';
import {
  EnrolledMachineStatus,
  MachineCredentialStatus,
  type EnrolledMachine,
  type EnrolledMachineState,
} from '@mutirao/api/provider';
import { runCommandLine, temporaryFolder, type CommandResult } from '@mutirao/testkit';

interface Reported {
  readonly result: CommandResult;
  readonly added: EnrolledMachine[];
  readonly removed: string[];
  readonly invited: readonly (readonly [string, number])[];
}

/** Runs a command line against a provider `lab` that records its enrolled machines. */
async function run(
  argv: readonly string[],
  directory = '/work',
  place = { address: 'grid.example.org:7721', authority: 'MIIB' },
): Promise<Reported> {
  const added: EnrolledMachine[] = [];
  const removed: string[] = [];
  const invited: [string, number][] = [];
  const state = (machine: EnrolledMachine): EnrolledMachineState => ({
    machine,
    status: EnrolledMachineStatus.WAITING,
    reason: 'MUT_UNREACHABLE no route',
    sinceUnixMs: 5000,
  });
  const result = await runCommandLine(argv, {
    directory,
    now: () => 65_000,
    broker: {
      listProviders: () =>
        Promise.resolve({
          providers: [
            {
              providerId: 'lab',
              address: '127.0.0.1:7',
              connected: true,
              machines: 0,
              lastError: '',
              drainingReason: '',
              runningTasks: 0,
            },
          ],
        }),
    },
    provider: {
      addMachines: ({ machines }) => {
        added.push(...machines);
        return Promise.resolve({});
      },
      removeMachine: ({ name }) => {
        removed.push(name);
        return Promise.resolve({});
      },
      listEnrolledMachines: () => Promise.resolve({ machines: added.map(state) }),
      inviteMachine: ({ name, validMs }) => {
        invited.push([name, validMs]);
        return Promise.resolve({
          invitation: 'invitation-x',
          expiresUnixMs: 1000,
          address: place.address,
          authority: place.authority,
        });
      },
      listMachineCredentials: () =>
        Promise.resolve({
          credentials: [
            { name: 'new', status: MachineCredentialStatus.INVITED, sinceUnixMs: 5000, expiresUnixMs: 125_000 },
            { name: 'pc', status: MachineCredentialStatus.JOINED, sinceUnixMs: 5000, expiresUnixMs: undefined },
          ],
        }),
    },
  });
  return { result, added, removed, invited };
}

function aFile(t: ExecutionContext, text: string): string {
  const folder = temporaryFolder(t);
  writeFileSync(path.join(folder, 'lab.gdf'), text);
  return folder;
}

const templates =
  ' remExec: ssh $machine $command\n copyTo: scp $localfile $machine:$remotefile\n copyFrom: scp ' +
  '$machine:$remotefile $localfile\n';

test('a machine that ssh reaches is added with what is said of it, and how it is is shown', async (t) => {
  const { result, added } = await run([
    'machine',
    'add',
    '--ssh',
    'ana@pc.lab',
    '--processors',
    '2',
    '--memory',
    '8GB',
    '--gpus',
    '2:a100',
    '--resource',
    'licence=2',
    '--attribute',
    'GPU=two big',
    '--ssh-option',
    '-Jgate',
    '--ssh-option',
    'Port=2222',
    '--remote-command',
    'node /x/mutirao.js',
  ]);
  t.is(result.status, 0, result.err);
  t.deepEqual(added, [
    {
      name: 'ana@pc.lab',
      processors: 2,
      folder: '',
      attributes: { gpu: 'two big' },
      memoryBytes: 8_000_000_000,
      gpus: '2:a100',
      resources: ['licence=2'],
      reach: {
        $case: 'ssh',
        value: { destination: 'ana@pc.lab', options: ['-Jgate', 'Port=2222'], program: ['node', '/x/mutirao.js'] },
      },
    },
  ]);
  t.regex(result.out, /^lab\/ana@pc\.lab +waiting +1m\S* +ssh +ana@pc\.lab +MUT_UNREACHABLE no route$/m);
});

test('machines of a file are driven by their templates where no Mutirao program may run, else reached over ssh', async (t) => {
  const folder = aFile(
    t,
    `gumdefaults:\n${templates}gum:\n name: a\n type: GRIDSCRIPT\n os: linux\n playpenRoot: /tmp\ngum:\n name: ` +
      'eva@b\n type: UALinux\n gateway: front\n processors: 3\ngum:\n name: c\n',
  );
  const { result, added } = await run(
    ['machine', 'add', '--file', 'lab.gdf', '--attribute', 'site=lab', '--json'],
    folder,
  );
  t.is(result.status, 0, result.err);
  t.deepEqual(
    added.map(({ name, reach, folder: place, processors }) => [name, reach?.$case, place, processors]),
    [
      ['a', 'templates', '/tmp', 0],
      ['eva@b', 'ssh', '', 3],
      ['c', 'templates', '', 0],
    ],
  );
  t.like(added[0], {
    attributes: { os: 'linux', type: 'GRIDSCRIPT', site: 'lab' },
    resources: [],
    reach: { value: { machine: 'a', remExec: 'ssh $machine $command' } },
  });
  t.like(added[1]?.reach?.value, { destination: 'eva@b', options: ['-Jfront'] });
  t.is((JSON.parse(result.out) as { machine_id: string }[])[1]?.machine_id, 'lab/eva@b');
  t.deepEqual(
    (await run(['machine', 'add', '--file', 'lab.gdf', '--by', 'ssh'], folder)).added.map(({ reach }) => reach?.$case),
    ['ssh', 'ssh', 'ssh'],
  );
});

const refused: readonly (readonly [string, readonly string[], RegExp])[] = [
  ['neither a file nor a destination', [], /found neither --file nor --ssh; expected one of them/],
  ['both', ['--file', 'lab.gdf', '--ssh', 'a'], /found both --file and --ssh/],
  ['a destination that is an option', ['--ssh=-oProxyCommand=x'], /--ssh is "-oProxyCommand=x"; expected user@host/],
  ['an attribute without a value', ['--ssh', 'a', '--attribute', 'gpu'], /--attribute is "gpu"; expected NAME=VALUE/],
  ['a file that is not there', ['--file', 'nowhere.gdf'], /there is no file .*nowhere\.gdf/],
  ['a name for several', ['--file', 'lab.gdf', '--name', 'x'], /--name is for --ssh/],
  ['no processors', ['--ssh', 'a', '--processors', '0'], /Expected an integer from 1 to 4096/],
  ['memory that is no size', ['--ssh', 'a', '--memory', 'much'], /much/],
  ['GPUs that are none', ['--ssh', 'a', '--gpus', 'two'], /two/],
  ['a resource of nothing', ['--ssh', 'a', '--resource', 'licence=0'], /licence/],
  ['a way that there is not', ['--ssh', 'a', '--by', 'rsh'], /--by is "rsh"; expected ssh or templates/],
  ['templates without any', ['--file', 'lab.gdf', '--by', 'templates'], /lab\.gdf:1:1: a has no templates/],
];

for (const [what, args, message] of refused) {
  test(`adding machines refuses ${what}`, async (t) => {
    const { result, added } = await run(['machine', 'add', ...args], aFile(t, 'gum:\n name: a\n'));
    t.is(result.status, 2);
    t.regex(result.err, message);
    t.deepEqual(added, []);
  });
}

test('peers are not machines, and an unreadable line is refused with its place', async (t) => {
  t.regex(
    (await run(['machine', 'add', '--file', 'lab.gdf'], aFile(t, 'peer:\n username: a\n servername: b\n'))).result.err,
    /lab\.gdf is a list of 1 peers, each a whole site and no machine/,
  );
  const { result } = await run(['machine', 'add', '--file', 'lab.gdf'], aFile(t, 'gum:\n name a\n'));
  t.is(result.status, 2);
  t.regex(result.err, /MUT_MACHINES_SYNTAX lab\.gdf:2:7: found "a", expected ":" after "name"/);
});

test('a machine is removed by its name, with or without its provider', async (t) => {
  t.deepEqual((await run(['machine', 'remove', 'lab/ana@pc'])).removed, ['ana@pc']);
  const { removed, result } = await run(['machine', 'remove', 'ana@pc']);
  t.deepEqual(removed, ['ana@pc']);
  t.is(
    result.out,
    'Machine lab/ana@pc is removed: its agent is disconnected and its credential is revoked. Tasks that ran there ' +
      'run again elsewhere.\n',
  );
  t.regex((await run(['machine', 'remove', 'x/ana@pc'])).result.err, /no provider is named "x"/);
});

test('a provider that keeps nothing says how to change that', async (t) => {
  t.regex(
    (await run(['machine', 'enrolled'])).result.out,
    /Provider lab has no enrolled machines; add some with "mutirao machine add"\./,
  );
});

test('an invitation comes with the command for the machine, and the secret is not in the command', async (t) => {
  const { result, invited } = await run(['machine', 'invite', 'pc7', '--valid', '2h']);
  t.is(result.status, 0, result.err);
  t.deepEqual(invited, [['pc7', 7_200_000]]);
  t.regex(result.out, /^The invitation of lab\/pc7, good once, until 1970-01-01T/);
  t.regex(result.out, /^ {2}invitation-x$/m);
  t.regex(
    result.out,
    /^ {2}MUTIRAO_CA=MIIB mutirao run agent --provider grid\.example\.org:7721 --machine-id lab\/pc7 --invitation -$/m,
  );
  t.is(result.err, '');
  t.is((await run(['machine', 'invite', 'lab/pc7', '--quiet'])).result.out, 'invitation-x\n');
  t.deepEqual((await run(['machine', 'invite', 'lab/pc7'])).invited, [['pc7', 0]]);
  t.is((await run(['machine', 'invite', 'pc7', '--valid', 'soon'])).result.status, 2);
});

test('an invitation to a provider that only its own host reaches says so', async (t) => {
  for (const address of ['unix:/home/ana/.mutirao/sockets/provider-lab', '127.0.0.1:7721']) {
    const { result } = await run(['machine', 'invite', 'pc7'], '/work', { address, authority: '' });
    t.regex(result.err, /works only there; start it with --listen-agents/);
    t.regex(result.out, /^ {2}mutirao run agent --provider /m);
  }
});

test('the names that were invited are listed with how they stand', async (t) => {
  const { result } = await run(['machine', 'credentials']);
  t.regex(result.out, /^lab\/new +invited +1m\S* +1m\S*$/m);
  t.regex(result.out, /^lab\/pc +joined +1m\S* +-$/m);
});
