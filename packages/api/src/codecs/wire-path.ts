import { bytesOfName, isByteName, nameOfBytes } from './byte-names.ts';

/** Writes a path for the wire, where a text is UTF-8, which a path need not be. */
export function encodePath(path: string): { path: string; pathBytes?: Buffer } {
  return isByteName(path) ? { path: '', pathBytes: bytesOfName(path) } : { path };
}

/** Reads a path, in the form of `nameOfBytes`. */
export function decodePath({ path, pathBytes }: { readonly path: string; readonly pathBytes?: Uint8Array | undefined }): string {
  return pathBytes === undefined ? path : nameOfBytes(pathBytes);
}
