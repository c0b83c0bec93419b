import test from 'ava';
import { FormatError, parseMachineList, type ListedMachine } from '@mutirao/formats';

// JDF.md section 7: workers (SDF) and peers (GDF) of OurGrid 4, grid machines (GDF) of MyGrid 2 and 3; what is refused
// is named.

function refusal(text: string): FormatError {
  try {
    parseMachineList(text, 'lab.gdf');
  } catch (error) {
    if (error instanceof FormatError) return error;
    throw error;
  }
  throw new Error('the file was accepted');
}

function only(text: string): ListedMachine {
  const { machines } = parseMachineList(text, 'lab.gdf');
  if (machines.length !== 1 || machines[0] === undefined) throw new Error(`${machines.length} machines`);
  return machines[0];
}

const templates = [
  '  copyTo : scp "$localfile" $machine:"$remotefile"',
  '  copyFrom : scp $machine:"$remotefile" "$localfile"',
  '  remExec : ssh $machine $command',
  '',
].join('\n');

test('workers take what they do not say from the defaults, and what they say wins', (t) => {
  const { format, machines, warnings } = parseMachineList(
    [
      '# the lab',
      'workerdefaults:',
      ' servername: testserver',
      ' os: linux',
      'worker:',
      ' username: testuserB',
      ' mem: 128',
      'WORKER :',
      ' UserName : testuserC',
      ' mem: 256',
      ' OS: windows',
      '',
    ].join('\r\n'),
    'lab.sdf',
  );
  t.is(format, 'sdf');
  t.deepEqual(warnings, []);
  t.deepEqual(machines, [
    {
      line: 5,
      column: 1,
      name: 'testuserB@testserver',
      host: 'testserver',
      user: 'testuserB',
      gateway: '',
      type: '',
      folder: '',
      processors: 0,
      templates: undefined,
      attributes: { servername: 'testserver', os: 'linux', username: 'testuserB', mem: '128' },
    },
    {
      line: 8,
      column: 1,
      name: 'testuserC@testserver',
      host: 'testserver',
      user: 'testuserC',
      gateway: '',
      type: '',
      folder: '',
      processors: 0,
      templates: undefined,
      attributes: { servername: 'testserver', os: 'windows', username: 'testuserC', mem: '256' },
    },
  ]);
});

test('grid machines have templates, which are kept as they are written', (t) => {
  const machine = only(
    'GUMDEFAULTS :\n  type : UALinux\n  OS : linux\nGUM :\n  name : localhost\n  playpenRoot : /tmp/\n  ' +
      `storageDir : .mgstorage\n  uaport : 3081\n${templates}`,
  );
  t.deepEqual(machine, {
    line: 4,
    column: 1,
    name: 'localhost',
    host: 'localhost',
    user: '',
    gateway: '',
    type: 'ualinux',
    folder: '/tmp/',
    processors: 0,
    attributes: { type: 'UALinux', os: 'linux' },
    templates: {
      copyTo: 'scp "$localfile" $machine:"$remotefile"',
      copyFrom: 'scp $machine:"$remotefile" "$localfile"',
      remExec: 'ssh $machine $command',
    },
  });
});

test('a grid machine may be named with its user, and have a gateway and processors', (t) => {
  const machine = only('mygump:\n gateway: ana@front.lab\ngum:\n name: ana@pc-3.lab\n processors: 4\n');
  t.like(machine, { name: 'ana@pc-3.lab', user: 'ana', host: 'pc-3.lab', gateway: 'ana@front.lab', processors: 4 });
});

test('peers are listed apart from machines', (t) => {
  const { format, machines, peers } = parseMachineList(
    'peer:\n\n label: LSD Peer\n username : peer-lsd\n servername : xmpp.ourgrid.org\n',
    'grid.gdf',
  );
  t.is(format, 'gdf');
  t.deepEqual(machines, []);
  t.deepEqual(peers, [{ line: 1, column: 1, label: 'LSD Peer', user: 'peer-lsd', server: 'xmpp.ourgrid.org' }]);
});

test('a value is the rest of its line, colons, number signs and inner quotes included', (t) => {
  const { attributes } = only('worker:\nusername:a\nservername:b\nnote: x: y # z "w"\nquoted: "a \\"b\\" c"\n');
  t.like(attributes, { note: 'x: y # z "w"', quoted: 'a "b" c' });
});

test('a template keeps its backslashes, and loses quotes only around the whole', (t) => {
  const machine = only(String.raw`gum:
name: x
remExec: sh -c "cd \"\$HOME\"; eval \"\$command\" # $command"
copyTo: "cp $localfile $remotefile"
copyFrom: cp "\\$remotefile" "${'$'}{localfile}"
`);
  t.deepEqual(machine.templates, {
    remExec: String.raw`sh -c "cd \"\$HOME\"; eval \"\$command\" # $command"`,
    copyTo: 'cp $localfile $remotefile',
    copyFrom: String.raw`cp "\\$remotefile" "${'$'}{localfile}"`,
  });
});

test('an attribute worker.X is known as X too, unless that is stated', (t) => {
  const { attributes } = only('worker:\nusername: a\nservername: b\nworker.home: /h\nworker.os: linux\nos: plan9\n');
  t.like(attributes, { 'worker.home': '/h', home: '/h', 'worker.os': 'linux', os: 'plan9' });
});

test('of a key that stands twice in a block the last counts, with a warning', (t) => {
  const { machines, warnings } = parseMachineList('worker:\nusername: a\nservername: b\nmem: 1\n  mem: 2\n', 'lab.sdf');
  t.is(machines[0]?.attributes['mem'], '2');
  t.deepEqual(warnings, [{ line: 5, column: 3, message: '"mem" stands twice in one block; the last counts' }]);
});

const refused: readonly (readonly [string, string, string])[] = [
  ['an empty file', '', '1:1: found the end of the file, expected "worker:", "gum:" or "peer:" first'],
  ['nonsense', 'hello world\n', '1:1: found "hello", expected "worker:", "gum:" or "peer:" first'],
  [
    'a heading with a typing error',
    'wroker:\n username: a\n',
    '1:1: found "wroker", expected "worker:", "gum:" or "peer:" first; did you mean worker?',
  ],
  [
    'a heading without its colon',
    'worker\n username: a\n',
    '1:7: found the end of the line, expected ":" after "worker"',
  ],
  ['more behind a heading', 'worker: a\n', '1:9: found "a", expected the end of the line after "worker:"'],
  [
    'a later heading with a typing error',
    'worker:\n username: a\n servername: b\nwroker\n',
    '4:1: found "wroker", expected a line such as "os: linux", or a heading; did you mean worker?',
  ],
  ['a key without a colon', 'worker:\n username a\n', '2:11: found "a", expected ":" after "username"'],
  [
    'a key without a value',
    'worker:\n username:\n servername: b\n',
    '2:11: found the end of the line, expected a value behind "username:" on its line',
  ],
  ['an empty value in quotes', 'worker:\n username: ""\n', '2:12: found "\\"\\"", expected a value behind "username:"'],
  ['a value without a key', 'worker:\n : x\n', '2:2: found ":", expected a line such as "os: linux"'],
  ['a NUL character', 'worker:\n username: a\0b\n', '2:13: found a NUL character, expected text'],
  [
    'a worker without a user',
    'workerdefaults:\n os: linux\nworker:\n servername: b\n',
    '3:1: found a "worker:" without "username:", expected "username:" in it or in the defaults',
  ],
  [
    'a peer without a server',
    'peer:\n username: b\n',
    '1:1: found a "peer:" without "servername:", expected "servername:" in it or in the defaults',
  ],
  [
    'a grid machine without a name',
    'gum:\n os: linux\n',
    '1:1: found a "gum:" without "name:", expected "name:" in it or in the defaults',
  ],
  [
    'a host that ssh would take for an option',
    'gum:\n name: -oProxyCommand=x\n',
    '2:8: found "-oProxyCommand=x", expected the name or address of a host',
  ],
  [
    'a user that ssh would take for an option',
    'worker:\n username: -l\n servername: b\n',
    '2:12: found "-l", expected the name of a user',
  ],
  [
    'a host with a space',
    'worker:\n username: a\n servername: b c\n',
    '3:14: found "b c", expected the name or address of a host',
  ],
  [
    'a gateway that is none',
    'gum:\n name: a\n gateway: b;c\n',
    '3:11: found "b;c", expected the name or address of a host',
  ],
  ['no processors', 'gum:\n name: a\n processors: 0\n', '3:14: found "0", expected processors from 1 to 4096'],
  [
    'two machines of one name',
    'gum:\n name: a\ngum:\n name: a\n',
    '3:1: found a second machine "a", expected another name for each machine',
  ],
  [
    'defaults behind a machine',
    'gum:\n name: a\ngumdefaults:\n os: b\n',
    '3:1: found "gumdefaults:" behind "gum:", expected the defaults first',
  ],
  [
    'defaults twice',
    'gumdefaults:\n os: b\nmygump:\n os: c\n',
    '3:1: found a second "mygump:", expected one block of defaults',
  ],
  [
    'two kinds of lists',
    'gum:\n name: a\nworker:\n',
    '3:1: found "worker:" in a list of "gum:", expected one kind of list in a file',
  ],
  [
    'two of three templates',
    'gum:\n name: a\n remExec: ssh $machine $command\n copyTo: cp $localfile $remotefile\n',
    '1:1: found a machine without "copyFrom:", expected "remExec:", "copyTo:" and "copyFrom:", or none of them',
  ],
  [
    'a remExec without its command',
    'gum:\n name: a\n remExec: ssh $machine $commands\n copyTo: $localfile $remotefile\n copyFrom: $localfile ' +
      '$remotefile\n',
    '3:11: found "ssh $machine $commands", expected a command line with $command',
  ],
  [
    'a machine of type GRIDSCRIPT without templates',
    'gum:\n name: a\n type: GridScript\n',
    '1:1: found a machine of type GRIDSCRIPT without templates, expected "remExec:", "copyTo:" and "copyFrom:"',
  ],
];

for (const [what, text, message] of refused) {
  test(`${what} is refused with its place`, (t) => {
    const error = refusal(text);
    t.is(error.message, `lab.gdf:${message}`);
    t.is(error.code, 'MUT_MACHINES_SYNTAX');
  });
}

const dialects: readonly (readonly [string, string, number, string])[] = [
  ['the first dialect', 'GUM {\n name = a;\n}\n', 1, 'a grid file of MyGrid 1 (GDF with "name = value;")'],
  ['the first dialect with a colon', 'WORKER :\n name = a;\n', 1, 'a grid file of MyGrid 1 (GDF with "name = value;")'],
  [
    'the first dialect within',
    'gum:\n os: linux\n name = a;\n',
    3,
    '"name =", as in a grid file of MyGrid 1 (GDF with "name = value;")',
  ],
  [
    'a ClassAd of workers',
    '[ servername="testserver"; OS="linux"; workers={worker1}; ]',
    1,
    'a list of workers of OurGrid 4.2 (SDF as ClassAd)',
  ],
  ['a JDL job', '[ Executable = "/bin/ls"; ]', 1, 'a JDL job (ClassAd)'],
  ['a job file', '# mine\njob:\ntask:\nremote: a\n', 2, 'a job file (JDF)'],
  ['a cluster log', '; Version: 2\n1 0 5 100 8 -1 -1 8 120 -1 1 3 1 -1 1 -1 -1 -1\n', 2, 'a workload trace (SWF)'],
];

for (const [what, text, line, found] of dialects) {
  test(`${what} is refused by name`, (t) => {
    const error = refusal(text);
    t.is(error.code, 'MUT_MACHINES_DIALECT');
    t.is(error.problem.line, line);
    t.is(error.problem.found, found);
  });
}
