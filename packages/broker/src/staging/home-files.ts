import { realpathSync, statfsSync, statSync } from 'node:fs';
import { basename, sep } from 'node:path';

import { MutiraoError } from '@mutirao/api/errors';
import type { FilledPath } from '@mutirao/core/bag';
import type { Content, InputFile } from '@mutirao/core/messages';
import type { Bytes } from '@mutirao/core/shared';
import { fsPath } from '@mutirao/runtime/files';

import { Turns } from '../concurrency/turns.ts';
import type { FileHashes } from './file-hashes.ts';
import { contentFingerprint, statusFingerprint } from './fingerprint.ts';
import type { HomeFile } from './home-file.ts';
import { findLink, listFiles, getRemoteName } from './list-files.ts';

/** Where the bytes of a content are at home. */
export interface HomeSource {
  readonly path: string;
  /** Time of the file's last change when it was hashed. */
  readonly mtimeMs: number;
  /** See `FilledPath`. */
  readonly machineFrom?: number | undefined;
}

/**
 * The files at home that tasks read, and which of them holds a content that a machine asks for.
 *
 * Bounded: of the contents that were not staged for longest the source is forgotten; staging a replica again finds it
 * again.
 */
export class HomeFiles {
  readonly #hashes: FileHashes;
  readonly #sources = new Map<string, HomeSource>();
  readonly #sourcesMax: number;
  readonly #forbidden: readonly string[];
  readonly #turns = new Turns();

  /**
   * @param options.forbidden folders and files of which a machine chooses nothing; without links on the way to them.
   */
  constructor(
    hashes: FileHashes,
    {
      sourcesMax = 200_000,
      forbidden = [],
    }: { readonly sourcesMax?: number; readonly forbidden?: readonly string[] } = {},
  ) {
    this.#hashes = hashes;
    this.#sourcesMax = sourcesMax;
    this.#forbidden = forbidden;
  }

  /**
   * All files that a path stands for now. @throws {MutiraoError} MUT_INPUT_MISSING, MUT_INPUT_UNUSABLE;
   * MUT_PATH_ESCAPES where a machine chose a link, or a file that is not for tasks.
   */
  async resolve({ path, machineFrom }: FilledPath): Promise<HomeFile[]> {
    const files = await listFiles(path, machineFrom);
    if (machineFrom !== undefined) for (const { absolutePath } of files) this.#requireAllowed(absolutePath);
    return await Promise.all(
      files.map(async (file) => {
        const content = await this.#hashes.getContent(file.absolutePath, file.status);
        requireWhole(file.absolutePath, file.status.size, content.size);
        this.#remember(content, { path: file.absolutePath, mtimeMs: file.status.mtimeMs, machineFrom });
        const remoteName = (wanted: string): string => getRemoteName(wanted, path, file);
        return { remoteName, content, mode: file.status.mode & 0o777, below: file.below, status: file.status };
      }),
    );
  }

  /**
   * A fingerprint of what a path stands for now.
   *
   * @param spend whether this many bytes may be read for it.
   * @throws {MutiraoError} MUT_INPUT_MISSING.
   */
  async fingerprintOf(path: string, spend: (bytes: number) => boolean): Promise<string> {
    const files = await listFiles(path);
    const isRead = spend(files.reduce((total, { status }) => total + status.size, 0));
    return isRead ? contentFingerprint(await this.resolve({ path, machineFrom: undefined })) : statusFingerprint(files);
  }

  /** Where a content is; undefined when it was never staged, or its file has changed since. */
  async findSource(content: Content): Promise<HomeSource | undefined> {
    const source = this.#sources.get(content.sha256);
    if (source === undefined) return undefined;
    if (this.#turns.isOver()) await this.#turns.next();
    const status = statSync(fsPath(source.path), { throwIfNoEntry: false });
    if (
      findLink(source.path, source.machineFrom) === undefined &&
      status?.isFile() === true &&
      status.size === content.size &&
      status.mtimeMs === source.mtimeMs
    )
      return source;
    this.#sources.delete(content.sha256);
    return undefined;
  }

  #requireAllowed(path: string): void {
    const real = realpathSync(fsPath(path));
    const owner = this.#forbidden.find((folder) => real === folder || real.startsWith(folder + sep));
    if (owner !== undefined)
      throw new MutiraoError(
        'MUT_PATH_ESCAPES',
        `${path} is inside ${owner}, of which nothing is sent to a machine that names it`,
      );
  }

  #remember(content: Content, source: HomeSource): void {
    this.#sources.delete(content.sha256);
    this.#sources.set(content.sha256, source);
    if (this.#sources.size > this.#sourcesMax) this.#sources.delete(this.#sources.keys().next().value as string);
  }
}

/**
 * Refuses a file whose bytes differ from its status: one that the system generates, as in /proc, differs each time it
 * is read, and one that grows has no content yet.
 */
function requireWhole(path: string, stated: Bytes, found: Bytes): void {
  if (stated === found) return;
  if (isGenerated(path)) {
    throw new MutiraoError(
      'MUT_INPUT_UNUSABLE',
      `${path} is not a file on a disk: the system generates it at each read. Bring a copy ("cp ` +
        `${path} ${basename(path)}" and "--put ${basename(path)}"), or have the command read it on its machine`,
    );
  }
  throw new MutiraoError(
    'MUT_INPUT_UNUSABLE',
    `${path} has ${found} bytes, and had ${stated} a moment ago: a program is writing to it. Wait until it is ` +
      'complete, or bring a copy',
  );
}

const generatingTypes: readonly number[] = [0x9fa0, 0x62656572, 0x63677270, 0x27e0eb, 0x64626720, 0x74726163];

/** Whether it is on a file system without a disk: proc, sysfs, cgroups, debugfs, tracefs. */
function isGenerated(path: string): boolean {
  try {
    return generatingTypes.includes(statfsSync(fsPath(path)).type);
  } catch {
    return false;
  }
}

/** The input file that a machine gets for a file at home. */
export function getInputFile(file: HomeFile, root: InputFile['root'], wanted: string): InputFile {
  return { root, path: file.remoteName(wanted), content: file.content, mode: file.mode };
}
