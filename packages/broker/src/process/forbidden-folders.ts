import { basename, dirname, join } from 'node:path';
import { followLinks } from '@mutirao/runtime/files';
import { authorityKeyPath, identityFolder } from '@mutirao/runtime/identity';
import { homeSocketFolders } from '@mutirao/runtime/rpc';

/**
 * Names in a home folder of what is Mutirao's own. `replaced` has what `mutirao restore` moved aside, `here` the homes
 * of standalone jobs, `machines` what is driven by templates.
 */
const ownNames = [
  'broker',
  'providers',
  'clusters',
  'agents',
  'reservations',
  'sites',
  'web',
  'shared',
  'logs',
  'audit',
  'crashes',
  'credentials',
  'programs',
  'identity',
  'token',
  'metrics-token',
  'broker.json',
  'grid.json',
  'replaced',
  'here',
  'machines',
] as const;

/**
 * Folders and files where no output goes, and of which a machine chooses nothing: what is Mutirao's own, under that
 * name and under its real one, and what no disk holds.
 *
 * The key of the authority and the sockets are among them, wherever they are. So is what belongs to the usual home
 * folder, where this one is that of a standalone job.
 */
export function listForbiddenFolders(home: string): string[] {
  const own = ownIn(home);
  const usual =
    basename(dirname(home)) === 'here'
      ? ownIn(dirname(dirname(home))).filter((folder) => folder !== dirname(home))
      : [];
  const all = [...own, ...usual];
  return [...new Set([...all, ...all.map(followLinks), '/proc', '/sys', '/dev'])];
}

function ownIn(home: string): string[] {
  return [
    ...ownNames.map((name) => join(home, name)),
    ...homeSocketFolders(home),
    authorityKeyPath(identityFolder(home)),
  ];
}
