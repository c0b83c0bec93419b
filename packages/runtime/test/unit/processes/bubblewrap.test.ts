import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import test from 'ava';
import { describeSandbox, firstWords, sandboxLine, sandboxWords, type Sandbox } from '@mutirao/runtime/processes';
import { temporaryFolder } from '@mutirao/testkit';

const sandbox: Sandbox = {
  program: '/usr/bin/bwrap',
  hidden: ['/home/ana'],
  readable: ['/home/ana/node/bin'],
  writable: ['/scratch'],
  temporary: ['/tmp', '/var/tmp'],
};
const folders = {
  temporary: '/home/ana/.mutirao/tmp/0',
  writable: ['/home/ana/.mutirao/playpens/0'],
  start: '/home/ana/.mutirao/playpens/0',
};

test('what a task may see is mounted after what hides it, and nothing of the host is writable but its own', (t) => {
  const words = sandboxWords(sandbox, folders);
  const mounts: string[][] = [];
  for (let at = 1; at < words.length; at++)
    if (/^--(?:ro-|dev-)?bind|^--tmpfs$/.test(words[at] ?? ''))
      mounts.push(words.slice(at, at + (words[at] === '--tmpfs' ? 2 : 3)));
  const indexOf = (place: string): number => mounts.findIndex((mount) => mount.at(-1) === place);
  t.is(indexOf('/'), 0);
  t.true(indexOf('/home/ana') > 0);
  t.deepEqual(mounts[0], ['--ro-bind', '/', '/']);
  for (const place of [...folders.writable, ...sandbox.readable]) t.true(indexOf(place) > indexOf('/home/ana'), place);
  t.deepEqual(
    mounts.filter(([option]) => option === '--bind').map((mount) => mount.slice(1)),
    [
      [folders.temporary, '/tmp'],
      [folders.temporary, '/var/tmp'],
      ['/scratch', '/scratch'],
      [folders.start, folders.start],
    ],
  );
  for (const option of ['--new-session', '--unshare-pid', '--as-pid-1', '--die-with-parent'])
    t.true(words.includes(option), option);
  t.deepEqual(words.slice(-2), ['--chdir', folders.start]);
});

test('names with blanks and quotes reach bubblewrap whole', (t) => {
  const line = sandboxLine(sandbox, { ...folders, start: "/srv/it's a folder" });
  t.true(line.endsWith(`--chdir '/srv/it'\\''s a folder'`), line);
  t.deepEqual(firstWords('name').slice(0, 3), ['--', '/bin/sh', '-c']);
});

test('home folders are hidden by their real paths, and never a part of the system', (t) => {
  const folder = temporaryFolder(t);
  const bin = path.join(folder, 'bin');
  mkdirSync(bin);
  const environment = { PATH: bin, HOME: '/usr/local', TMPDIR: folder };
  t.is(describeSandbox({ hidden: [], writable: [], environment }), undefined, 'it is not installed');
  writeFileSync(path.join(bin, 'bwrap'), '#!/bin/sh\n');
  chmodSync(path.join(bin, 'bwrap'), 0o755);
  symlinkSync('/opt', path.join(folder, 'link'));
  const described = describeSandbox({
    hidden: [
      '/',
      '/usr/lib',
      '/etc',
      '/nowhere',
      'relative',
      path.join(folder, 'link'),
      '/opt/nothing',
      path.join(folder, 'bin'),
    ],
    writable: [],
    environment,
  });
  t.is(described?.program, path.join(bin, 'bwrap'));
  t.deepEqual(
    described?.hidden.filter((place) => place !== homedir()),
    ['/opt'],
  );
  t.true(described?.temporary.includes('/tmp') === true && described.temporary.includes(folder));
});
