import { readField } from './fields.ts';
import { quoteForShell } from './shell-words.ts';

/** A piece of a template: literal text, or what stands for the task's value, a field of that value, or its index. */
export type TemplatePart =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'value' | 'index' }
  | { readonly kind: 'field'; readonly name: string };

/** A text split at its placeholders; parsed once, filled in for each task. */
export type Template = readonly TemplatePart[];

/**
 * Reads a template: `{}` stands for the task's value, `{#}` for its index, and `{=name}` for the field of that name of
 * a value that is a JSON object.
 *
 * A literal one is written with one more pair of braces: `{{}}` is the text `{}`, `{{{}}}` is `{{}}`. All other braces
 * are
 * text, `${HOME}` and `awk '{ print }'` among them. Cost: linear.
 */
export function parseTemplate(text: string): Template {
  const parts: TemplatePart[] = [];
  let literal = '';
  let done = 0;
  for (const placeholder of findPlaceholders(text)) {
    literal += text.slice(done, placeholder.start);
    done = placeholder.end;
    if (placeholder.depth > 1) {
      literal += text.slice(placeholder.start + 1, placeholder.end - 1);
      continue;
    }
    if (literal !== '') parts.push({ kind: 'text', text: literal });
    literal = '';
    parts.push(placeholder.part);
  }
  literal += text.slice(done);
  if (literal !== '') parts.push({ kind: 'text', text: literal });
  return parts;
}

/**
 * Fills in a path: value and index as they are, and `expand` applied to the text between them (not to the value).
 *
 * The result may lead anywhere: pass it through `keepInside` before it is used on a machine.
 */
export function renderPath(
  template: Template,
  value: string,
  index: number,
  expand: (text: string) => string = keep,
): string {
  return fill(template, value, index, expand);
}

/** Makes a template that renders to exactly this text, whatever the value. */
export function escapeTemplate(text: string): string {
  let escaped = '';
  let done = 0;
  for (const { start, end } of findPlaceholders(text)) {
    escaped += `${text.slice(done, start)}{${text.slice(start, end)}}`;
    done = end;
  }
  return escaped + text.slice(done);
}

/** Whether a template depends on the task's value or its index. */
export function hasPlaceholder(template: Template): boolean {
  return template.some((part) => part.kind !== 'text');
}

/** Makes a command template of the words after `--`: each is quoted for the shell, its placeholders left open. */
export function commandFromWords(words: readonly string[]): string {
  return words.map(quoteTemplateWord).join(' ');
}

function quoteTemplateWord(word: string): string {
  const parts = parseTemplate(word);
  if (parts.length === 0) return quoteForShell('');
  return parts
    .map((part) => (part.kind === 'text' ? escapeTemplate(quoteForShell(part.text)) : getSymbol(part)))
    .join('');
}

/** How a placeholder is written. */
export function getSymbol(part: Exclude<TemplatePart, { kind: 'text' }>): string {
  if (part.kind === 'field') return `{=${part.name}}`;
  return part.kind === 'value' ? '{}' : '{#}';
}

/** The value of a placeholder; the placeholder itself if the value has no such field. */
export function fillPart(part: Exclude<TemplatePart, { kind: 'text' }>, value: string, index: number): string {
  if (part.kind === 'field') return readField(value, part.name) ?? getSymbol(part);
  return part.kind === 'value' ? value : String(index);
}

function keep(text: string): string {
  return text;
}

function fill(template: Template, value: string, index: number, expand: (text: string) => string): string {
  let filled = '';
  for (const part of template) {
    if (part.kind === 'text') filled += expand(part.text);
    else filled += fillPart(part, value, index);
  }
  return filled;
}

interface Placeholder {
  /** Of the outermost pair of braces. */
  readonly start: number;
  readonly end: number;
  /** Pairs of braces, 1 or more. */
  readonly depth: number;
  readonly part: Exclude<TemplatePart, { kind: 'text' }>;
}

/** The allowed text between the braces of a placeholder. A name has no braces, so that it ends at the first one. */
const inside = /(#)?\}|=([^{}=\n][^{}\n]*)\}/y;

/** Finds placeholders with all the pairs of braces around each, from left to right. */
function findPlaceholders(text: string): Placeholder[] {
  const found: Placeholder[] = [];
  let from = 0;
  for (let open = text.indexOf('{'); open !== -1; open = text.indexOf('{', from)) {
    from = open + 1;
    inside.lastIndex = from;
    const match = inside.exec(text);
    if (match === null) continue;
    const close = inside.lastIndex - 1;
    let depth = 1;
    while (text[open - depth] === '{' && text[close + depth] === '}') depth++;
    found.push({ start: open - depth + 1, end: close + depth, depth, part: getPart(match) });
    from = close + depth;
  }
  return found;
}

function getPart([, index, name]: RegExpExecArray): Placeholder['part'] {
  if (name !== undefined) return { kind: 'field', name };
  return { kind: index === undefined ? 'value' : 'index' };
}
