// One connection of the system's ssh to a real sshd: commands, files and ports over it, and what becomes of it.
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { connect, createServer, type AddressInfo, type Server } from 'node:net';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import type { MutiraoError } from '@mutirao/api/errors';
import { SshConnection, type OpenSshOptions } from '@mutirao/runtime/ssh';
import { isAlive, SshServer, temporaryFolder, until } from '@mutirao/testkit';

async function server(
  t: ExecutionContext,
  options: ConstructorParameters<typeof SshServer>[0] = {},
): Promise<SshServer> {
  const made = new SshServer(options);
  t.teardown(() => made.stop());
  await made.start();
  return made;
}

async function open(t: ExecutionContext, host: SshServer, more: Partial<OpenSshOptions> = {}): Promise<SshConnection> {
  const connection = await SshConnection.open({ destination: host.destination, options: host.options, ...more });
  t.teardown(async () => {
    connection.close();
    await until(() => connection.pid === undefined || !isAlive(connection.pid), 'the ssh process is gone');
  });
  return connection;
}

test('commands run over one connection, each with its words, input, output and status', async (t) => {
  const host = await server(t);
  const ssh = await open(t, host);
  const words = ['a b', '', 'it\'s "x"\\ $HOME `date` *', 'two\nlines\n', 'naïve 日本 😀', '!', '~', '-n'];
  const { stdout, status } = await ssh.run(['printf', '%s|', ...words]);
  t.deepEqual([status, stdout], [0, `${words.join('|')}|`]);
  t.is(
    (await ssh.run(['/bin/sh', '-c', 'cat; echo bad >&2; exit 7'], { input: 'x'.repeat(300_000) })).stdout.length,
    300_000,
  );
  t.like(await ssh.run(['/bin/sh', '-c', 'echo bad >&2; exit 7']), { status: 7, stderr: 'bad\n' });
  t.is((await ssh.run(['/bin/sh', '-c', 'exit 255'])).status, 255);
  t.is((await ssh.run(['/bin/sh', '-c', 'echo $HOME'])).stdout, `${host.home}\n`);
  t.is(host.sessions().length, 1);
});

for (const [what, startFile] of [
  ['a line', 'echo welcome'],
  ['text without a line end on both streams', 'printf "base=/wrong"; printf oops >&2'],
  ['a window title', 'printf "\\033]0;%s\\007" title'],
] as const) {
  test(`output of start files that print ${what} is dropped from an answer`, async (t) => {
    const host = await server(t);
    for (const name of ['.bashrc', '.profile', '.cshrc', '.zshenv'])
      writeFileSync(join(host.home, name), `${startFile}\n`);
    const ssh = await open(t, host);
    t.deepEqual(await ssh.run(['/bin/sh', '-c', 'cat; echo bad >&2; exit 7'], { input: 'in\n' }), {
      status: 7,
      stdout: 'in\n',
      stderr: 'bad\n',
    });
    writeFileSync(join(host.home, 'from'), 'bytes');
    await ssh.copyTo(join(host.home, 'from'), join(host.home, 'copies/to'));
    t.is(readFileSync(join(host.home, 'copies/to'), 'utf8'), 'bytes');
    await ssh.forwardBack(`unix:${join(host.home, 'here')}`, `unix:${join(host.home, 'there')}`);
    t.true(existsSync(join(host.home, 'there')));
  });
}

for (const [what, startFile] of [
  ['asks something', 'read -r answer'],
  ['asks twice, for a while', 'read -r -t 5 -p "project? " project; read -r queue'],
] as const) {
  test(`a start file that ${what} takes nothing of what a command reads`, async (t) => {
    const host = await server(t);
    writeFileSync(join(host.home, '.bashrc'), `${startFile}\n`);
    const ssh = await open(t, host);
    t.is((await ssh.run(['cat'], { input: 'one\ntwo\n' })).stdout, 'one\ntwo\n');
    t.is((await ssh.run(['cat'])).stdout, '');
    writeFileSync(join(host.home, 'from'), 'one\n'.repeat(100_000));
    await ssh.copyTo(join(host.home, 'from'), join(host.home, 'to'));
    t.is(statSync(join(host.home, 'to')).size, 400_000);
  });
}

test('what a start file leaves running holds up no answer', async (t) => {
  const host = await server(t);
  // It holds both streams open until the file is removed, at the latest when a minute is over.
  const busy = join(host.home, 'busy');
  writeFileSync(busy, '');
  t.teardown(() => {
    rmSync(busy, { force: true });
  });
  writeFileSync(
    join(host.home, '.bashrc'),
    `(i=0; while [ -e '${busy}' ] && [ $i -lt 600 ]; do sleep 0.1; i=$((i+1)); done) &\n`,
  );
  const ssh = await open(t, host);
  t.deepEqual(await ssh.run(['/bin/sh', '-c', 'cat; echo bad >&2; exit 7'], { input: 'in\n', deadlineMs: 50_000 }), {
    status: 7,
    stdout: 'in\n',
    stderr: 'bad\n',
  });
  t.is((await ssh.run(['/bin/sh', '-c', 'exit 255'], { deadlineMs: 50_000 })).status, 255);
  const long = `head -c 3000000 /dev/zero | tr '\\0' x; exit 3`;
  t.is((await ssh.run(['/bin/sh', '-c', long], { deadlineMs: 50_000 })).status, 3, 'the end of its output is not kept');
  writeFileSync(join(host.home, 'from'), 'x'.repeat(300_000));
  await ssh.copyTo(join(host.home, 'from'), join(host.home, 'to'), { deadlineMs: 50_000 });
  t.is(statSync(join(host.home, 'to')).size, 300_000);
});

test('a start file that reads all that comes is named, and no file is written', async (t) => {
  const host = await server(t);
  writeFileSync(join(host.home, '.bashrc'), 'cat >/dev/null\n');
  const ssh = await open(t, host);
  writeFileSync(join(host.home, 'from'), 'new');
  writeFileSync(join(host.home, 'to'), 'old');
  await t.throwsAsync(ssh.copyTo(join(host.home, 'from'), join(host.home, 'to')), {
    code: 'MUT_SSH_SHELL',
    message: /start files of the login shell read what was sent to a command.*\[ -t 0 \]/,
  });
  t.is(readFileSync(join(host.home, 'to'), 'utf8'), 'old');
});

test('a connection that breaks while a file is copied leaves the former file as it was', async (t) => {
  const host = await server(t);
  const ssh = await open(t, host);
  const [from, to] = [join(host.home, 'from'), join(host.home, 'to')];
  writeFileSync(from, Buffer.alloc(300_000_000));
  writeFileSync(to, 'old');
  const copied = t.throwsAsync(ssh.copyTo(from, to), { code: 'MUT_UNREACHABLE' });
  const drafts = (): string[] => readdirSync(host.home).filter((name) => name.startsWith('to.'));
  await until(() => drafts().some((name) => statSync(join(host.home, name)).size > 0), 'the copy has begun');
  host.cut();
  await copied;
  await until(() => drafts().length === 0, 'nothing is left of the copy');
  t.is(readFileSync(to, 'utf8'), 'old');
});

test('a jump host that refuses the user is reported as denied access', async (t) => {
  const host = await server(t);
  const config = readFileSync(host.configPath, 'utf8');
  writeFileSync(host.configPath, `Host behind\n  ProxyJump foreign\n${config}`);
  await t.throwsAsync(SshConnection.open({ destination: 'behind', options: host.options }), {
    code: 'MUT_SSH_DENIED',
    message: /Permission denied/,
  });
});

test("a banner that speaks of denied permission is not taken for ssh's own word", async (t) => {
  const banner = join(temporaryFolder(t), 'banner');
  writeFileSync(
    banner,
    'Permission denied to all who have no account here.\nHost key verification failed: ask the administrators.\n',
  );
  const host = await server(t, { config: [`Banner ${banner}`] });
  const ssh = await open(t, host);
  t.is((await ssh.run(['true'])).status, 0);
  const gone = new Promise<MutiraoError>((resolve) => {
    ssh.onClosed(resolve);
  });
  host.cut();
  t.is((await gone).code, 'MUT_UNREACHABLE');
  await t.throwsAsync(SshConnection.open({ destination: 'foreign', options: host.options }), {
    code: 'MUT_SSH_DENIED',
  });
});

test('an account whose login shell runs no commands is described by what it says', async (t) => {
  const ssh = await open(t, await server(t, { config: ['ForceCommand echo This account is closed.; exit 1'] }));
  await t.throwsAsync(ssh.run(['true']), {
    code: 'MUT_SSH_SHELL',
    message: 'front: no command runs there: the login shell ended with status 1, its words: This account is closed.',
  });
});

test('a command that ends beyond what is kept of its output, or is killed, is reported as it was', async (t) => {
  const ssh = await open(t, await server(t));
  t.is((await ssh.run(['head', '-c', '3000000', '/dev/zero'])).stdout.length > 1_000_000, true);
  t.like(await ssh.run(['/bin/sh', '-c', 'echo before; kill -9 $PPID']), { stdout: 'before\n' });
  t.is((await ssh.run(['/bin/sh', '-c', 'kill -9 $$'])).status, 137);
});

test('a host that allows two sessions for each connection serves many commands, a few at a time', async (t) => {
  const ssh = await open(t, await server(t, { config: ['MaxSessions 2'] }));
  const answers = await Promise.all(
    Array.from({ length: 8 }, (_, index) => ssh.run(['/bin/sh', '-c', 'sleep 0.2; echo "$1"', 'x', String(index)])),
  );
  t.deepEqual(
    answers.map(({ stdout }) => stdout),
    Array.from({ length: 8 }, (_, index) => `${index}\n`),
  );
});

test('a host that allows no sessions is described by what would help', async (t) => {
  const ssh = await open(t, await server(t, { config: ['MaxSessions 0'] }));
  await t.throwsAsync(ssh.run(['true'], { deadlineMs: 500 }), { message: /opens no further session.*MaxSessions/ });
});

test("the log level in the user's files hides no reason", async (t) => {
  const host = await server(t);
  writeFileSync(host.configPath, `${readFileSync(host.configPath, 'utf8')}  LogLevel QUIET\n`);
  await t.throwsAsync(SshConnection.open({ destination: 'foreign', options: host.options }), {
    code: 'MUT_SSH_DENIED',
    message: /Permission denied/,
  });
});

test('a command whose answer has no end is reported as such, and the connection goes on', async (t) => {
  const ssh = await open(t, await server(t));
  await t.throwsAsync(ssh.run(['sleep', '30'], { deadlineMs: 300 }), {
    code: 'MUT_DEADLINE_EXCEEDED',
    message: /"sleep 30"/,
  });
  t.is((await ssh.run(['true'])).status, 0);
});

test('a file is copied whole, with any name, its mode and the folders that it needs', async (t) => {
  const host = await server(t);
  const ssh = await open(t, host);
  const local = join(temporaryFolder(t), 'file');
  const bytes = Buffer.from(Array.from({ length: 3_000_000 }, (_, index) => (index * 7919) >> 3));
  writeFileSync(local, bytes);
  const remote = join(host.home, 'a folder/it\'s "x"\n日本');
  await ssh.copyTo(local, remote, { mode: '700' });
  t.true(readFileSync(remote).equals(bytes));
  t.is(statSync(remote).mode & 0o777, 0o700);
  t.is(readdirSync(join(host.home, 'a folder')).length, 1, 'no draft is left');
  await t.throwsAsync(ssh.copyTo(join(host.home, 'nothing'), remote), { code: 'MUT_FILE_NOT_FOUND' });
  mkdirSync(join(host.home, 'taken'));
  await t.throwsAsync(ssh.copyTo(local, '/proc/x/y'), { message: /\/proc\/x\/y cannot be written/ });
});

test('a copy onto a full disk fails with the words of the other host', async (t) => {
  const ssh = await open(t, await server(t));
  const local = join(temporaryFolder(t), 'file');
  writeFileSync(local, 'x'.repeat(100_000));
  const { status, stderr } = await ssh.run(['/bin/sh', '-c', 'cat >/dev/full'], { inputFile: local });
  t.not(status, 0);
  t.regex(stderr, /No space left/);
});

test('ports are forwarded', async (t) => {
  const ssh = await open(t, await server(t));
  const echo = await listen(t, (text) => text.toUpperCase());
  const forth = await ssh.forward(echo);
  t.is(await ask(forth, 'hello'), 'HELLO');
  t.is(await ssh.forward(echo, forth), forth, 'the same again');
  await t.throwsAsync(ssh.forward(forth, echo), {
    code: 'MUT_ALREADY_RUNNING',
    message: new RegExp(`${echo} cannot be forwarded`),
  });
});

test('sockets are forwarded both ways, for the user alone, and one that is there already is replaced', async (t) => {
  const host = await server(t);
  const there = `unix:${await listenAt(t, join(host.home, 'so: it\u00e9 is'), (text) => text.toUpperCase())}`;
  const folder = join(temporaryFolder(t), 'run');
  const [here, back] = [join(folder, 'here'), join(temporaryFolder(t), 'back')];
  for (const count of [1, 2]) {
    const ssh = await open(t, host);
    await ssh.forward(there, `unix:${here}`);
    t.is(await ask(`unix:${here}`, `hello ${count}`), `HELLO ${count}`);
    await ssh.forwardBack(`unix:${here}`, `unix:${back}`);
    t.is(await ask(`unix:${back}`, `back ${count}`), `BACK ${count}`);
    if (count === 1) host.cut();
  }
  t.is(statSync(folder).mode & 0o777, 0o700);
  t.deepEqual(
    [here, back].map((path) => statSync(path).mode & 0o777),
    [0o600, 0o600],
  );
});

test('a folder that others may enter is not taken for a socket', async (t) => {
  const ssh = await open(t, await server(t));
  const folder = temporaryFolder(t);
  chmodSync(folder, 0o711);
  await t.throwsAsync(ssh.forward('unix:/nowhere', `unix:${folder}/s`), {
    code: 'MUT_TOKEN_UNSAFE',
    message: /has mode 711; expected 700/,
  });
});

test('a host that forwards no sockets is reported as such', async (t) => {
  const host = await server(t, { config: ['AllowStreamLocalForwarding no'] });
  const ssh = await open(t, host);
  const [here, there] = [`unix:${join(temporaryFolder(t), 'here')}`, `unix:${join(host.home, 'there')}`];
  await ssh.forward(there, here);
  await t.throwsAsync(ssh.probe(here), {
    code: 'MUT_UNREACHABLE',
    message: /nobody answers there: connect failed: .*AllowStreamLocalForwarding/,
  });
  await t.throwsAsync(ssh.forwardBack(here, there), {
    code: 'MUT_UNREACHABLE',
    message: /cannot be forwarded back to unix:.*AllowStreamLocalForwarding/,
  });
});

test('a connection that breaks is reported once, with its forwarded ports gone and every call refused', async (t) => {
  const host = await server(t);
  const ssh = await open(t, host);
  const reported: MutiraoError[] = [];
  ssh.onClosed((error) => reported.push(error));
  const waiting = ssh.run(['sleep', '30']);
  await until(() => host.sessions().length === 1, 'the session is there');
  host.cut();
  await t.throwsAsync(waiting, { code: 'MUT_UNREACHABLE' });
  await until(() => reported.length === 1, 'the end is reported');
  t.is(reported[0]?.code, 'MUT_UNREACHABLE');
  t.false(ssh.isOpen);
  await t.throwsAsync(ssh.run(['true']), { code: 'MUT_UNREACHABLE' });
  await t.throwsAsync(ssh.forward('127.0.0.1:1'), { code: 'MUT_UNREACHABLE' });
});

test('closing ends the ssh process, leaves no socket, and notifies nobody', async (t) => {
  const folder = temporaryFolder(t);
  const ssh = await open(t, await server(t), { controlFolder: folder });
  t.is(readdirSync(folder).length, 1);
  ssh.onClosed(() => {
    t.fail('somebody was notified');
  });
  ssh.close();
  await until(() => readdirSync(folder).length === 0, 'the socket is gone');
  t.false(ssh.isOpen);
});

test('a control folder whose path is too long for a socket is done without', async (t) => {
  const folder = join(temporaryFolder(t), 'x'.repeat(120));
  const ssh = await open(t, await server(t), { controlFolder: folder });
  t.is((await ssh.run(['true'])).status, 0);
  t.false(existsSync(folder));
});

test('an alias behind a jump host of a configuration file leads there', async (t) => {
  const host = await server(t);
  const ssh = await open(t, host, { destination: 'inner' });
  t.is((await ssh.run(['echo', 'in'])).stdout, 'in\n');
  t.is(host.sessions().length, 2);
});

test("a refused user, an unknown host and an unreachable one are each reported with ssh's own words", async (t) => {
  const host = await server(t);
  const opening = (destination: string, ...options: string[]): Promise<SshConnection> =>
    SshConnection.open({ destination, options: [...options, ...host.options] });
  await t.throwsAsync(opening('foreign'), {
    code: 'MUT_SSH_DENIED',
    message: /^ssh foreign: .*Permission denied \(publickey\)/,
  });
  await t.throwsAsync(opening('front', 'UserKnownHostsFile=/dev/null'), {
    code: 'MUT_SSH_HOST_KEY',
    message: /Host key verification failed/,
  });
  await t.throwsAsync(opening('front', 'HostName=no-such-host.invalid'), {
    code: 'MUT_UNREACHABLE',
    message: /no-such-host\.invalid/,
  });
  await t.throwsAsync(opening('front', 'Port=1'), { code: 'MUT_UNREACHABLE', message: /refused/ });
  await t.throwsAsync(opening('front', 'Potr=1'), { code: 'MUT_BAD_CONFIG', message: /potr/i });
  await t.throwsAsync(SshConnection.open({ destination: 'front', program: '/no/such/ssh' }), {
    code: 'MUT_UNREACHABLE',
    message: /cannot start \/no\/such\/ssh/,
  });
});

test('a host that never answers is given up in time, and a given up connection leaves no process', async (t) => {
  const silent = await listen(t, () => '');
  const port = silent.split(':')[1] ?? '';
  const opening = SshConnection.open({
    destination: '127.0.0.1',
    options: [`Port=${port}`, '-F/dev/null'],
    deadlineMs: 300,
  });
  await t.throwsAsync(opening, { code: 'MUT_UNREACHABLE', message: /no connection after/ });
  const controller = new AbortController();
  const aborted = SshConnection.open({
    destination: '127.0.0.1',
    options: [`Port=${port}`, '-F/dev/null'],
    signal: controller.signal,
  });
  controller.abort();
  await t.throwsAsync(aborted, { code: 'MUT_CANCELLED' });
});

/** A server that answers each text with another. @returns its address. */
async function listen(t: ExecutionContext, answer: (text: string) => string): Promise<string> {
  const made = answering(t, answer).listen(0, '127.0.0.1');
  await once(made, 'listening');
  return `127.0.0.1:${(made.address() as AddressInfo).port}`;
}

/** The same at a socket. @returns its path. */
async function listenAt(t: ExecutionContext, path: string, answer: (text: string) => string): Promise<string> {
  await once(answering(t, answer).listen(path), 'listening');
  return path;
}

function answering(t: ExecutionContext, answer: (text: string) => string): Server {
  const made = createServer((socket) => {
    t.teardown(() => {
      socket.destroy();
    });
    socket.on('error', () => undefined);
    socket.on('data', (bytes) => {
      socket.write(answer(bytes.toString()));
    });
  });
  t.teardown(() => {
    made.close();
  });
  return made;
}

function ask(address: string, text: string): Promise<string> {
  const [host = '', port = ''] = address.split(':');
  const where = host === 'unix' ? { path: address.slice('unix:'.length) } : { host, port: Number(port) };
  return new Promise((resolve, reject) => {
    const socket = connect(where, () => {
      socket.write(text);
    });
    socket.once('data', (bytes) => {
      socket.destroy();
      resolve(bytes.toString());
    });
    socket.once('error', reject);
  });
}
