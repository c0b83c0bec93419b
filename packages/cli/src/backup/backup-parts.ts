import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/**
 * The parts of a home folder that cannot be recreated: jobs and their inputs, reservations and the key of their claims,
 * identities, and the list of sites.
 */
const wholeParts = ['broker', 'reservations', 'identity', 'token', 'sites'] as const;
/** Of each provider: the machines that the user added. */
const providerFile = 'machines.json';
/** Results that are being checked; they are checked again. */
const leftOut: ReadonlySet<string> = new Set(['broker/checks']);

/** Parts of a home folder that a back-up holds, as far as they are there. */
export function listParts(home: string): string[] {
  const machines = namesIn(join(home, 'providers')).map((provider) => join('providers', provider, providerFile));
  return [...wholeParts, ...machines].filter(
    (part) => lstatSync(join(home, part), { throwIfNoEntry: false }) !== undefined,
  );
}

/** Whether a file of a back-up belongs to one of the parts, and so may be put into a home folder. */
export function isOfParts(path: string): boolean {
  const [first = '', , third] = path.split('/');
  return (wholeParts as readonly string[]).includes(first) || (first === 'providers' && third === providerFile);
}

/**
 * The regular files below a part, as paths below the home folder, in order. Logs and notes of journals are not among
 * them: they go with their journals.
 */
export function listFiles(home: string, part: string): string[] {
  if (leftOut.has(part)) return [];
  const status = lstatSync(join(home, part), { throwIfNoEntry: false });
  if (status?.isDirectory() === true)
    return namesIn(join(home, part)).flatMap((name) => listFiles(home, join(part, name)));
  return status?.isFile() === true && !/\.sqlite-(wal|shm|last|journal)$/.test(part) ? [part] : [];
}

/** Whether a file is a journal, which is copied as a whole. */
export function isJournal(path: string): boolean {
  return path.endsWith('.sqlite');
}

function namesIn(folder: string): string[] {
  return lstatSync(folder, { throwIfNoEntry: false })?.isDirectory() === true ? readdirSync(folder).sort() : [];
}
