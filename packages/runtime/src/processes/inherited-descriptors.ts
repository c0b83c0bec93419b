import { closeSync, readdirSync, readFileSync } from 'node:fs';

/** Of the flags of a descriptor, that a program which is executed does not get it; octal in the list of the system. */
const closedOnExec = 0o2000000;

/**
 * Closes descriptors that the program that started us left open by mistake: our children, and so tasks, would inherit
 * them, with the files, locks and connections of whoever has them.
 *
 * Node keeps the first of them from its children, up to the first gap in their numbers above 16. All that this process
 * has opened itself is kept from children, so whatever is not was inherited. Does nothing where the host does not list
 * descriptors, and where the parent speaks with us through one of them.
 *
 * @param words of the command line: what they name as `/dev/fd/63`, as a shell does with `<(list)`, was left open on
 * purpose.
 */
export function closeInherited(words: readonly string[] = process.argv): void {
  if (process.channel !== undefined) return;
  const named = new Set(words.flatMap(listNamed));
  for (const descriptor of listDescriptors()) {
    if (descriptor <= 2 || named.has(descriptor) || !passesToChildren(descriptor)) continue;
    try {
      closeSync(descriptor);
    } catch {
      // It was closed meanwhile.
    }
  }
}

function listNamed(word: string): number[] {
  return [...word.matchAll(/\/(?:dev|proc\/self)\/fd\/(\d+)/g)].map(([, descriptor]) => Number(descriptor));
}

function listDescriptors(): number[] {
  try {
    return readdirSync('/proc/self/fd').map(Number);
  } catch {
    return [];
  }
}

/** The descriptor that the listing itself was read through is gone by now. */
function passesToChildren(descriptor: number): boolean {
  try {
    const flags = /^flags:\s*(?<octal>[0-7]+)$/m.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, 'utf8'));
    return (Number.parseInt(flags?.groups?.['octal'] ?? closedOnExec.toString(8), 8) & closedOnExec) === 0;
  } catch {
    return false;
  }
}
