import { escapeTemplate, keepInside } from '@mutirao/core/bag';
import type { Root } from '@mutirao/core/messages';

/** A path on a GridMachine, or what is wrong with the text that should be one. */
export type RemotePath =
  | { readonly kind: 'path'; readonly root: Root; readonly path: string }
  | { readonly kind: 'refused'; readonly code: string; readonly expected: string };

const variable = /^\$(STORAGE|PLAYPEN)(?=\/|$)/;

/**
 * Resolves a path on a machine: below `$STORAGE` or `$PLAYPEN` where it begins so, else below `usualRoot`, also if it
 * is
 * written absolute. `.` is the root itself.
 */
export function resolveRemotePath(text: string, usualRoot: Root): RemotePath {
  const prefix = variable.exec(text);
  const rest = text.slice(prefix?.[0].length ?? 0);
  if (/\$(STORAGE|PLAYPEN)\b/.test(rest)) {
    return {
      kind: 'refused',
      code: 'MUT_JDF_SYNTAX',
      expected: '$STORAGE and $PLAYPEN only at the beginning of a path',
    };
  }
  const path = keepInside(rest);
  if (path === undefined)
    return {
      kind: 'refused',
      code: 'MUT_PATH_LEAVES_ROOT',
      expected: 'a path that stays inside the playpen or the storage',
    };
  const root = prefix === null ? usualRoot : prefix[1] === 'STORAGE' ? 'storage' : 'playpen';
  return { kind: 'path', root, path: escapeTemplate(path) };
}

/** Resolves a path at home: relative ones begin at the job file's folder. Without `.`, `..` and doubled slashes. */
export function resolveLocalPath(text: string, directory: string): string {
  const kept: string[] = [];
  for (const name of (text.startsWith('/') ? text : `${directory}/${text}`).split('/')) {
    if (name === '..') kept.pop();
    else if (name !== '' && name !== '.') kept.push(name);
  }
  return escapeTemplate(`/${kept.join('/')}`);
}

/** Whether a destination is a folder to put something into: the root itself, or written with a slash at its end. */
export function isFolder(text: string): boolean {
  return text.endsWith('/') || text.replace(variable, '') === '' || /(^|\/)\.\.?$/.test(text);
}

/** The last name of a path; empty for a root. */
export function getLastName(text: string): string {
  const name = text.replace(/\/+$/, '').split('/').at(-1) ?? '';
  return name === '.' || name === '..' || variable.test(name) ? '' : name;
}
