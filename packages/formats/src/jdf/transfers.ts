import type { Root } from '@mutirao/core/messages';
import { isFolder, lastNameOf, resolveLocalPath, resolveRemotePath } from './paths.ts';
import { negate, takeCondition } from './conditions.ts';
import type { Transfer } from './document.ts';
import type { JdfReader } from './reader.ts';

/** Whose files a block moves, and where local paths begin. */
export interface BlockKind {
  readonly section: 'init' | 'final';
  /** Absolute. */
  readonly directory: string;
}

const verbsOf = { init: ['put', 'store'], final: ['get'] } as const;

/**
 * Reads what follows `init:` or `final:`: transfers and if-blocks in the order of the file, or `none`.
 *
 * @throws {FormatError}
 */
export function takeTransfers(reader: JdfReader, kind: BlockKind): Transfer[] {
  const transfers: Transfer[] = [];
  reader.skipBlank();
  if (reader.peekWord().toLowerCase() === 'none') {
    reader.position += 4;
    reader.expectEndOfLine(`the end of the line after "none"`);
    return [];
  }
  for (;;) {
    const word = reader.peekWord().toLowerCase();
    if (word === 'if') takeIf(reader, kind, transfers);
    else if (isVerb(word)) transfers.push(takeTransfer(reader, kind, ''));
    else break;
    reader.skipBlank();
  }
  if (transfers.length === 0) throw reader.error({ expected: `${listVerbs(kind)}, "if" or "none"`, words: [...verbsOf[kind.section], 'if', 'none'] });
  return transfers;
}

function takeIf(reader: JdfReader, kind: BlockKind, transfers: Transfer[]): void {
  reader.position += 2;
  let condition = takeCondition(reader);
  let isElse = false;
  let count = 0;
  for (;;) {
    reader.skipBlank();
    const word = reader.peekWord().toLowerCase();
    if (isVerb(word)) {
      transfers.push(takeTransfer(reader, kind, condition));
      count++;
    } else if (count === 0) {
      throw reader.error({ expected: listVerbs(kind), words: verbsOf[kind.section] });
    } else if (word === 'else' && !isElse) {
      reader.position += 4;
      condition = negate(condition);
      isElse = true;
      count = 0;
    } else if (word === 'endif') {
      reader.position += 5;
      return reader.expectEndOfLine('the end of the line after "endif"');
    } else {
      const expected = isElse ? `${listVerbs(kind)} or "endif"` : `${listVerbs(kind)}, "else" or "endif"`;
      throw reader.error({ expected, words: [...verbsOf[kind.section], 'else', 'endif'] });
    }
  }
}

function isVerb(word: string): word is Transfer['verb'] {
  return word === 'put' || word === 'store' || word === 'get';
}

function listVerbs(kind: BlockKind): string {
  return kind.section === 'init' ? '"put" or "store"' : '"get"';
}

function takeTransfer(reader: JdfReader, kind: BlockKind, condition: string): Transfer {
  const verb = takeVerb(reader, kind);
  const isGet = verb === 'get';
  const source = takeArgument(reader, isGet ? 'the path on the machine' : 'the path at home');
  const destination = takeArgument(reader, isGet ? 'the path at home, after the one on the machine' : 'the path on the machine, after the one at home');
  reader.expectEndOfLine('the end of the line after two paths (a path with spaces needs double quotes)');
  const target = { text: targetOf(source.text, destination.text), offset: destination.offset };
  const remote = takeRemote(reader, verb, isGet ? source : target);
  const localPath = resolveLocalPath(isGet ? target.text : source.text, kind.directory);
  return { verb, root: remote.root, remotePath: remote.path, localPath, condition };
}

function takeVerb(reader: JdfReader, kind: BlockKind): Transfer['verb'] {
  const verb = reader.peekWord().toLowerCase();
  if (!isVerb(verb) || (verb === 'get') !== (kind.section === 'final')) {
    throw reader.error({ expected: `${listVerbs(kind)} ("${verb}" belongs into ${verb === 'get' ? 'final' : 'init'}:)` });
  }
  reader.position += verb.length;
  return verb;
}

/** Where a file goes: into the destination under its own name where that is a folder. A folder with a slash is copied as it. */
function targetOf(source: string, destination: string): string {
  return isFolder(destination) && !source.endsWith('/') ? `${destination}/${lastNameOf(source)}` : destination;
}

function takeRemote(reader: JdfReader, verb: Transfer['verb'], { text, offset }: Argument): { readonly root: Root; readonly path: string } {
  const resolved = resolveRemotePath(text, verb === 'store' ? 'storage' : 'playpen');
  if (resolved.kind === 'path') return resolved;
  throw reader.error({ code: resolved.code, expected: resolved.expected, found: JSON.stringify(text) }, offset);
}

interface Argument {
  readonly text: string;
  readonly offset: number;
}

function takeArgument(reader: JdfReader, what: string): Argument {
  reader.skipSpaces();
  const offset = reader.position;
  return { text: reader.takePath(what), offset };
}
