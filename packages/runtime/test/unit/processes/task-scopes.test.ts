import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test from 'ava';
import { findGroupFolder, findScopes, killScope, listScope, makeScope } from '@mutirao/runtime/processes';
import { FakeCommands, temporaryFolder } from '@mutirao/testkit';
import { accountName } from '../../../src/files/account.ts';

const mounts = '30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n';
const hybrid =
  '30 23 0:26 / /sys/fs/cgroup rw - tmpfs tmpfs rw\n31 30 0:27 / /sys/fs/cgroup/memory rw - cgroup cgroup ' +
  'rw,memory\n32 30 0:28 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n';
const group = '/user.slice/user-1000.slice/user@1000.service/app.slice/mutirao-1-ab.scope';

test('the folder of a control group follows from the group and the mount of the unified hierarchy', (t) => {
  t.is(findGroupFolder(`0::${group}\n${mounts}`), `/sys/fs/cgroup${group}`);
  t.is(findGroupFolder(`4:memory:/x\n0::${group}\n${hybrid}`), `/sys/fs/cgroup/unified${group}`);
  t.is(findGroupFolder(`4:memory:/x\n${hybrid}`), undefined, 'the old hierarchy alone');
  t.is(findGroupFolder(`0::/\n${mounts}`), undefined, 'no scope was made');
  t.is(findGroupFolder(`0::${group}\n`), undefined);
});

test('a user manager is used where it answers and stays when its user logs out', async (t) => {
  const commands = new FakeCommands(path.join(temporaryFolder(t), 'bin'));
  const lingerFolder = temporaryFolder(t);
  const environment = { PATH: commands.path, XDG_RUNTIME_DIR: '/run/user/1000' };
  commands.say('systemd-run', `0::${group}\n${mounts}`);
  t.is(await findScopes({ environment, lingerFolder }), undefined, 'it would end with the login');
  t.deepEqual(commands.calls('systemd-run'), []);
  writeFileSync(path.join(lingerFolder, accountName()), '');
  const scopes = await findScopes({ environment, lingerFolder });
  t.deepEqual(scopes, {
    program: path.join(commands.folder, 'systemd-run'),
    folder: path.dirname(`/sys/fs/cgroup${group}`),
  });
  t.regex(
    commands.calls('systemd-run')[0] ?? '',
    /^--user --scope --quiet --collect --unit=mutirao-\d+-[0-9a-f]{12}\.scope -- \/bin\/sh -c /,
  );
  t.is(await findScopes({ environment: { PATH: commands.path }, lingerFolder }), undefined, 'no runtime folder');
  commands.act('systemd-run', 'echo "Failed to connect to bus: No medium found" >&2; exit 1');
  t.is(await findScopes({ environment, lingerFolder }), undefined);
});

test('the processes of a scope are those of all groups in it, and no two launchers share one', (t) => {
  const folder = temporaryFolder(t);
  const scope = makeScope({ program: 'systemd-run', folder });
  t.not(makeScope({ program: 'systemd-run', folder }).folder, scope.folder);
  t.is(listScope(scope), undefined);
  t.false(killScope(scope), 'there is none');
  mkdirSync(path.join(scope.folder, 'below', 'further'), { recursive: true });
  writeFileSync(path.join(scope.folder, 'cgroup.procs'), '12\n13\n');
  writeFileSync(path.join(scope.folder, 'below', 'cgroup.procs'), '');
  writeFileSync(path.join(scope.folder, 'below', 'further', 'cgroup.procs'), '14\n');
  t.deepEqual(listScope(scope), [12, 13, 14]);
  t.false(killScope(scope), 'a kernel that has no cgroup.kill');
  writeFileSync(path.join(scope.folder, 'cgroup.kill'), '');
  t.true(killScope(scope));
});
