import type { Root } from '@mutirao/core/messages';
import { isFolder, getLastName, resolveLocalPath, resolveRemotePath } from './paths.ts';
import { negate, takeCondition } from './conditions.ts';
import type { FormatError } from '../format-error.ts';
import type { Transfer } from './document.ts';
import { findSection, guessSection, unknownHeading } from './headings.ts';
import type { JdfReader } from './reader.ts';

/** Whose files a block moves, and where local paths begin. */
export interface BlockKind {
  readonly section: 'init' | 'final';
  /** Absolute. */
  readonly directory: string;
  /** Whether the beginning of the block was read already. */
  readonly isRest: boolean;
}

const verbsOf = { init: ['put', 'store'], final: ['get'] } as const;

/**
 * Reads what follows `init:` or `final:`: transfers and if-blocks in the order of the file, or `none`. Lines that are
 * wrong are reported and left out.
 */
export function takeTransfers(reader: JdfReader, kind: BlockKind): Transfer[] {
  const transfers: Transfer[] = [];
  reader.skipBlank();
  if (reader.peekWord().toLowerCase() === 'none') {
    reader.position += 4;
    reader.attempt(() => reader.expectEndOfLine(`the end of the line after "none"`));
    reader.takeRestOfLine();
    return [];
  }
  let lineCount = 0;
  let wasStray = false;
  for (; !isAtEndOfBlock(reader, kind); reader.skipBlank()) {
    const word = reader.peekWord().toLowerCase();
    const isStray = word !== 'if' && !isVerb(word);
    if (isStray)
      passStray(reader, {
        fault: lineCount === 0 && !kind.isRest ? emptyBlock(reader, kind) : unknownHeading(reader, kind.section),
        wasStray,
      });
    else if (word === 'if') takeIf(reader, kind, transfers);
    else takeTransfer(reader, kind, { transfers, condition: '' });
    wasStray = isStray;
    lineCount++;
  }
  if (lineCount === 0 && !kind.isRest) reader.report(emptyBlock(reader, kind));
  return transfers;
}

/** Whether a line of a block begins here. */
export function isAtMove(reader: JdfReader, section: BlockKind['section']): boolean {
  const word = reader.peekWord().toLowerCase();
  return word === 'if' || (isVerb(word) && (word === 'get') === (section === 'final'));
}

function isAtEndOfBlock(reader: JdfReader, { section }: BlockKind): boolean {
  const word = reader.peekWord().toLowerCase();
  if (reader.isAtEnd() || word === 'if' || isVerb(word)) return reader.isAtEnd();
  return findSection(word) !== undefined || guessSection(word, section) !== undefined;
}

function emptyBlock(reader: JdfReader, kind: BlockKind): FormatError {
  return reader.error({
    expected: `${listVerbs(kind)}, "if" or "none"`,
    words: [...verbsOf[kind.section], 'if', 'none'],
  });
}

/**
 * Skips a line that does not belong to the block, and reports it. A line without a similar known word counts to the
 * misunderstood line before it.
 */
function passStray(
  reader: JdfReader,
  { fault, wasStray }: { readonly fault: FormatError; readonly wasStray: boolean },
): void {
  if (!wasStray || fault.problem.nearest !== undefined) reader.report(fault);
  reader.takeRestOfLine();
}

/** Where the reading of an if-block is. */
interface Branch {
  condition: string;
  isElse: boolean;
  /** Lines of this branch, also those that are wrong. */
  lineCount: number;
  /** If-blocks inside of it that have not ended: there should be none. */
  depth: number;
}

function takeIf(reader: JdfReader, kind: BlockKind, transfers: Transfer[]): void {
  reader.position += 2;
  const branch: Branch = {
    condition: reader.attempt(() => takeCondition(reader)) ?? '',
    isElse: false,
    lineCount: 0,
    depth: 0,
  };
  for (reader.skipBlank(); !isAtEndOfBlock(reader, kind); reader.skipBlank()) {
    const word = reader.peekWord().toLowerCase();
    if (isVerb(word)) {
      takeTransfer(reader, kind, { transfers, condition: branch.condition });
      branch.lineCount++;
    } else if (takeKeyword(reader, kind, branch)) {
      return;
    }
  }
  reader.report(unexpectedInIf(reader, kind, branch));
}

/** Reads `else`, `endif`, or the word in their place, and returns whether the block ended. */
function takeKeyword(reader: JdfReader, kind: BlockKind, branch: Branch): boolean {
  const written = reader.peekWord();
  const word = written.toLowerCase();
  const isInner = branch.depth > 0 && isKeyword(word);
  const fault = isInner || isExpected(word, branch) ? undefined : unexpectedInIf(reader, kind, branch);
  if (fault !== undefined) reader.report(fault);
  const meant = isKeyword(word) ? word : fault?.problem.nearest;
  if (isInner || !isKeyword(meant)) {
    passInner(reader, word, branch);
    return false;
  }
  reader.position += written.length;
  if (meant === 'else') Object.assign(branch, { condition: negate(branch.condition), isElse: true, lineCount: 0 });
  else passEnd(reader, fault === undefined);
  return meant === 'endif';
}

function isKeyword(word: string | undefined): word is 'else' | 'endif' {
  return word === 'else' || word === 'endif';
}

function passEnd(reader: JdfReader, isRight: boolean): void {
  if (isRight) reader.attempt(() => reader.expectEndOfLine('the end of the line after "endif"'));
  reader.takeRestOfLine();
}

function isExpected(word: string, { isElse, lineCount }: Branch): boolean {
  return lineCount > 0 && (word === 'endif' || (word === 'else' && !isElse));
}

/** Skips a line of a block that must not be inside, or one that does not belong to the block. */
function passInner(reader: JdfReader, word: string, branch: Branch): void {
  if (word === 'if') branch.depth++;
  else if (word === 'endif') branch.depth--;
  branch.lineCount++;
  reader.takeRestOfLine();
}

function unexpectedInIf(reader: JdfReader, kind: BlockKind, { isElse, lineCount }: Branch): FormatError {
  if (lineCount === 0) return reader.error({ expected: listVerbs(kind), words: verbsOf[kind.section] });
  const expected = isElse ? `${listVerbs(kind)} or "endif"` : `${listVerbs(kind)}, "else" or "endif"`;
  return reader.error({ expected, words: [...verbsOf[kind.section], 'else', 'endif'] });
}

function isVerb(word: string): word is Transfer['verb'] {
  return word === 'put' || word === 'store' || word === 'get';
}

function listVerbs(kind: BlockKind): string {
  return kind.section === 'init' ? '"put" or "store"' : '"get"';
}

/** Where a transfer belongs. */
interface Destination {
  readonly transfers: Transfer[];
  readonly condition: string;
}

/** Reads the line of a transfer, or reports what is wrong with it. */
function takeTransfer(reader: JdfReader, kind: BlockKind, { transfers, condition }: Destination): void {
  const transfer = reader.attempt(() => readTransfer(reader, kind, condition));
  if (transfer !== undefined) transfers.push(transfer);
  reader.takeRestOfLine();
}

function readTransfer(reader: JdfReader, kind: BlockKind, condition: string): Transfer {
  const verb = takeVerb(reader, kind);
  const isGet = verb === 'get';
  const source = takeArgument(reader, isGet ? 'the path on the machine' : 'the path at home');
  const destination = takeArgument(
    reader,
    isGet ? 'the path at home, after the one on the machine' : 'the path on the machine, after the one at home',
  );
  reader.expectEndOfLine('the end of the line after two paths (a path with spaces needs double quotes)');
  const target = { text: getTarget(source.text, destination.text), offset: destination.offset };
  const remote = takeRemote(reader, verb, isGet ? source : target);
  const localPath = resolveLocalPath(isGet ? target.text : source.text, kind.directory);
  return { verb, root: remote.root, remotePath: remote.path, localPath, condition };
}

function takeVerb(reader: JdfReader, kind: BlockKind): Transfer['verb'] {
  const verb = reader.peekWord().toLowerCase();
  if (!isVerb(verb) || (verb === 'get') !== (kind.section === 'final')) {
    throw reader.error({
      expected: `${listVerbs(kind)} ("${verb}" belongs into ${verb === 'get' ? 'final' : 'init'}:)`,
    });
  }
  reader.position += verb.length;
  return verb;
}

/**
 * Where a file goes: into the destination under its own name where that is a folder. A folder with a slash is copied as
 * it.
 */
function getTarget(source: string, destination: string): string {
  return isFolder(destination) && !source.endsWith('/') ? `${destination}/${getLastName(source)}` : destination;
}

function takeRemote(
  reader: JdfReader,
  verb: Transfer['verb'],
  { text, offset }: Argument,
): { readonly root: Root; readonly path: string } {
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
