import { bytesOfName, isByteName } from '@mutirao/api/codecs';

/** A path as the functions of `node:fs` must get it: its bytes where it holds a name that is not UTF-8. */
export function fsPath(path: string): string | Buffer {
  return isByteName(path) ? bytesOfName(path) : path;
}
