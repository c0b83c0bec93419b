import type { GetReason } from '../reasons/index.ts';

/** How an attribute's value is compared with the wanted one. */
export type Comparison = '==' | '!=' | '<' | '>' | '<=' | '>=';

/** The three questions that JDF has in addition to comparisons. */
export type Question = 'in_path' | 'in_classpath' | 'version';

/** A requirements expression; names and wanted values are in lower case. */
export type Expression =
  | { readonly kind: 'all' | 'any'; readonly parts: readonly Expression[] }
  | { readonly kind: 'not'; readonly part: Expression }
  | Atom;

/** A part of an expression that a machine's attributes answer. */
export type Atom =
  | { readonly kind: 'compare'; readonly name: string; readonly comparison: Comparison; readonly wanted: string }
  /** A name by itself: it never holds, nor does its negation. */
  | { readonly kind: 'bare'; readonly name: string }
  /** `wanted` is the least version for `version`, otherwise empty. */
  | { readonly kind: 'ask'; readonly question: Question; readonly name: string; readonly wanted: string };

/** A parsed requirements text. */
export interface Requirements {
  readonly kind: 'requirements';
  /** As it was written. */
  readonly text: string;
  /** Undefined when the text is empty: every machine matches. */
  readonly expression: Expression | undefined;
}

/** Why a text is not a requirements expression. */
export interface RequirementsError {
  readonly kind: 'error';
  readonly fault: GetReason<'requirements-unreadable'>;
}

/** The name of the attribute that answers a question: `path:java`, `classpath:junit`, `version:java`. */
export function readAttribute(atom: Atom): string {
  if (atom.kind !== 'ask') return atom.name;
  const prefix = { in_path: 'path', in_classpath: 'classpath', version: 'version' }[atom.question];
  return `${prefix}:${atom.name}`;
}
