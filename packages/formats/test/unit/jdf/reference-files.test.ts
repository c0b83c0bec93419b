import test from 'ava';
import { FormatError, parseJdf, type JdfJob } from '@mutirao/formats';

// JDF.md section 4, both tables: what OurGrid's own parser was seen to do, and what is done here instead. A title says
// the
// row; "accepted" and "refused" are ours.

function read(text: string): JdfJob {
  return parseJdf(text, { file: 'a.jdf', directory: '/home/ana/jobs' });
}

function refusal(text: string): FormatError {
  try {
    read(text);
  } catch (error) {
    if (error instanceof FormatError) return error;
    throw error;
  }
  throw new Error('the file was accepted');
}

/** A job of one task with this line before its task clause. */
function job(line: string): JdfJob {
  return read(`job:\n${line}\ntask:\nremote: work\n`);
}

/** A job of one task with these lines in its task clause. */
function task(...lines: string[]): JdfJob {
  return read(['job:', 'task:', ...lines, ''].join('\n'));
}

function getCommand({ job: { groups } }: JdfJob): string | undefined {
  return groups[0]?.command;
}

// The seven files that the reference rejects.

test('pipelinedJob.jdf: a label with spaces is accepted', (t) => {
  t.is(job('label: pipelined job').job.label, 'pipelined job');
});

test('job_with_invalid_syntax.jdf: a job without a task clause is refused', (t) => {
  const error = refusal('job:\nlabel: x\nremote: work\n');
  t.is(error.code, 'MUT_JDF_NO_TASK');
  t.is(error.message, 'a.jdf:4:1: found the end of the file, expected at least one "task:"');
});

test('lexical/JobTest1.jdf: the first dialect is refused by name', (t) => {
  const error = refusal('JOB :\nREQUIREMENTS = (os == linux);\nTASK :\nREMOTE = work;\n');
  t.is(error.code, 'MUT_JDF_DIALECT');
  t.is(
    error.message,
    'a.jdf:2:1: found a job file of MyGrid 1 (INIT = ... ;), expected a job file (JDF) as OurGrid 3 to 4.2 reads it',
  );
});

test('lexical/JobTest2.jdf: braces after THEN are the first dialect too', (t) => {
  const error = refusal('JOB :\nTASK :\n  IF (os == linux) THEN {\n  put a b\n  } ELSE { put c d }\n');
  t.is(error.code, 'MUT_JDF_DIALECT');
  t.like(error.problem, { line: 3, column: 3, found: 'a job file of MyGrid 1 (INIT = ... ;)' });
});

test('semantic/JobTest2.jdf: a task without remote and without a default is refused at the task', (t) => {
  const error = refusal('job:\ntask:\nremote: work\ntask:\ninit: put a b\n');
  t.is(error.code, 'MUT_JDF_NO_REMOTE');
  t.is(
    error.message,
    'a.jdf:4:1: found a task without "remote:", expected one in the task, or in the job before its first task',
  );
});

test('ui/SimpleJob3_windows.jdf: backslashes in a path are kept, with a warning', (t) => {
  const {
    job: { groups },
    warnings,
  } = task('init: put C:\\data\\x.txt x.txt', 'remote: work');
  t.deepEqual(groups[0]?.inputs[0]?.source, { kind: 'path', path: '/home/ana/jobs/C:\\data\\x.txt' });
  t.deepEqual(warnings, [
    { line: 3, column: 11, message: 'a backslash in a path is part of a file name here, it parts no folders' },
  ]);
});

test('ui/SimpleJob4_windows.jdf: a command that begins with a quote keeps its arguments', (t) => {
  t.is(getCommand(task('remote : "prog" args')), '"prog" args');
});

// The probes.

test('label:foo without a space is accepted', (t) => {
  t.is(job('label:foo').job.label, 'foo');
});

test('label: foo bar and label: "foo bar" are the same', (t) => {
  t.is(job('label: foo bar').job.label, 'foo bar');
  t.is(job('label: "foo bar"').job.label, 'foo bar');
});

test('label : a:b:c keeps its colons', (t) => {
  t.is(job('label : a:b:c').job.label, 'a:b:c');
});

test('a # in a label is part of it', (t) => {
  t.is(job('label: foo # x').job.label, 'foo # x');
});

test('no label is an empty label', (t) => {
  t.is(task('remote: work').job.label, '');
  t.is(job('label:').job.label, '');
});

test('requirements before label are accepted', (t) => {
  const {
    job: { label, groups },
  } = job('requirements: os == linux\nlabel: x');
  t.is(label, 'x');
  t.is(groups[0]?.requirements, 'os == linux');
});

test('remote before init is accepted', (t) => {
  const {
    job: { groups },
  } = task('remote: work', 'init: put a b');
  t.is(groups[0]?.command, 'work');
  t.is(groups[0]?.inputs.length, 1);
});

test('requirements inside a task replace those of the job', (t) => {
  const {
    job: { groups },
  } = read('job:\nrequirements: os == linux\ntask:\nrequirements: mem > 4\nremote: a\ntask:\nremote: b\n');
  t.deepEqual(
    groups.map(({ requirements }) => requirements),
    ['mem > 4', 'os == linux'],
  );
});

test('empty requirements match everything', (t) => {
  t.is(job('requirements :').job.groups[0]?.requirements, '');
});

test('requirements without spaces are accepted', (t) => {
  t.is(job('requirements:(os==linux)').job.groups[0]?.requirements, '(os==linux)');
});

test('a quoted value in requirements is accepted', (t) => {
  t.is(job('requirements: os == "linux"').job.groups[0]?.requirements, 'os == "linux"');
});

test('a value with dots and dashes is accepted', (t) => {
  t.is(job('requirements: os == ubuntu-22.04').job.groups[0]?.requirements, 'os == ubuntu-22.04');
});

test('not, and, or are accepted in any case of letters', (t) => {
  const text = 'NOT os == linux And mem > 4 oR site = lab';
  t.is(job(`requirements: ${text}`).job.groups[0]?.requirements, text);
});

test('IN_PATH and VERSION are accepted', (t) => {
  const text = 'IN_PATH java && VERSION java 1.4';
  t.is(job(`requirements: ${text}`).job.groups[0]?.requirements, text);
});

test('remote:echo a without a space is accepted', (t) => {
  t.is(getCommand(task('remote:echo a')), 'echo a');
});

test('inner quotes of a command are kept', (t) => {
  t.is(getCommand(task('remote: echo "a b" c')), 'echo "a b" c');
});

test('a command that begins with a quoted program is accepted', (t) => {
  t.is(getCommand(task('remote: "my prog" arg')), '"my prog" arg');
  t.is(getCommand(task('remote: "a" "b"')), '"a" "b"');
});

test('a command that is quoted as a whole loses its quotes, as in the reference', (t) => {
  t.is(getCommand(task('remote: "echo a b"')), 'echo a b');
});

test('escaped quotes lose one level of backslashes', (t) => {
  t.is(getCommand(task('remote: echo \\"a b\\"')), 'echo "a b"');
  t.is(getCommand(task('remote: echo a\\\\b')), 'echo a\\b');
});

test('any other backslash in a command is kept', (t) => {
  t.is(getCommand(task('remote: echo \\n a')), 'echo \\n a');
  t.is(getCommand(task('remote: find . -exec wc {} \\;')), 'find . -exec wc {{}} \\;');
});

test('a # in a command is part of it', (t) => {
  t.is(getCommand(task('remote: a # b')), 'a # b');
});

test('an empty remote is refused', (t) => {
  const error = refusal('job:\ntask:\nremote :\nfinal: get a b\n');
  t.is(error.message, 'a.jdf:3:9: found the end of the line, expected a command on the line of "remote:"');
  t.is(refusal('job:\ntask:\nremote: ""\n').problem.found, 'an empty command');
});

test('a remote of two lines is refused at the second', (t) => {
  const error = refusal('job:\ntask:\nremote: echo a\n  echo b\n');
  t.is(
    error.message,
    'a.jdf:4:3: found "echo", expected a section such as "remote:", "final:" or "task:" (remote: is one line)',
  );
});

test('two jobs in a file are refused at the second', (t) => {
  const error = refusal('job:\ntask:\nremote: a\n\njob:\ntask:\nremote: b\n');
  t.is(error.message, 'a.jdf:5:1: found a second "job:", expected one job in a file');
});

test('quoted paths may have spaces', (t) => {
  const {
    job: { groups },
  } = task('init: put "my file.txt" "dest file"', 'remote: work');
  t.deepEqual(groups[0]?.inputs, [
    { source: { kind: 'path', path: '/home/ana/jobs/my file.txt' }, root: 'playpen', path: 'dest file', condition: '' },
  ]);
});

test('put with one path is refused', (t) => {
  const error = refusal('job:\ntask:\ninit: put a\nremote: work\n');
  t.is(error.message, 'a.jdf:3:12: found the end of the line, expected the path on the machine, after the one at home');
});

test('folders can be put', (t) => {
  const {
    job: { groups },
  } = task('init: put dir/ dir', 'remote: work');
  t.like(groups[0]?.inputs[0], { source: { path: '/home/ana/jobs/dir' }, path: 'dir' });
});

test('if without parentheses is accepted, and else holds where it does not', (t) => {
  const {
    job: { groups },
  } = task('remote: work', 'final: if os == linux then', 'get a b', 'else', 'get c d', 'endif');
  t.deepEqual(
    groups[0]?.outputs.map(({ path, condition }) => [path, condition]),
    [
      ['a', 'os == linux'],
      ['c', '! ( os == linux )'],
    ],
  );
});

test('several ifs and plain commands keep the order of the file', (t) => {
  const {
    job: { groups },
  } = task(
    'remote: work',
    'final:',
    'get a a',
    'if (os==linux) then',
    'get b b',
    'endif',
    'get c c',
    'if mem > 4 then get d d',
    'else get e e',
    'endif',
    'get f f',
  );
  t.deepEqual(
    groups[0]?.outputs.map(({ path, condition }) => [path, condition]),
    [
      ['a', ''],
      ['b', '(os==linux)'],
      ['c', ''],
      ['d', 'mem > 4'],
      ['e', '! ( mem > 4 )'],
      ['f', ''],
    ],
  );
});

test('comments and blank lines inside init are accepted', (t) => {
  const {
    job: { groups },
  } = task('init:', '# first', '', '  put a b # to the machine', '', '# second', '  store c d', 'remote: work');
  t.deepEqual(
    groups[0]?.inputs.map(({ root, path }) => [root, path]),
    [
      ['playpen', 'b'],
      ['storage', 'd'],
    ],
  );
});

test('check at the level of the job is inherited', (t) => {
  const {
    job: { groups },
  } = read('job:\nremote: work\ncheck: test -s out\ntask:\ntask:\ncheck: true\n');
  t.deepEqual(
    groups.map(({ check }) => check),
    ['test -s out', 'true'],
  );
});

test('annotations are ignored with a warning', (t) => {
  const {
    job: { label, groups },
    warnings,
  } = job('annotations: (a = b)\n  (c = d)\nlabel: x');
  t.is(label, 'x');
  t.is(groups.length, 1);
  t.deepEqual(warnings, [{ line: 2, column: 1, message: 'annotations are ignored' }]);
});
