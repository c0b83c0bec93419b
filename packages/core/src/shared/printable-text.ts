/**
 * What controls a terminal, or makes text look like other text: control characters (C0, DEL, C1), marks that change the
 * direction of text, and
 * separators of lines and paragraphs.
 */
const control = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/u;
const controls = new RegExp(control, 'gu');
/** Of those, what is left in JSON text, which has escaped C0 already. */
const controlsInJson = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;
/** Colors and other attributes of characters; or one control character. */
const colorOrControl = new RegExp(`\\u001b\\[[0-9;:]{0,64}m|${control.source}`, 'gu');

const names: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/**
 * Whether a text can be shown as it is: nothing in it controls a terminal, ends a line or turns the direction of text.
 */
export function isPrintable(text: string): boolean {
  return !control.test(text);
}

/**
 * A text from outside for one line of a terminal, a table or a log: what `isPrintable` refuses is shown as an escape,
 * as `\x1b` or `\u202e`.
 */
export function showText(text: string): string {
  return control.test(text) ? text.replace(controls, showControl) : text;
}

/**
 * What a program printed, for a terminal: lines, tabs, returns and colors stay, all else that would control the
 * terminal is shown as an escape.
 */
export function showPrinted(text: string): string {
  return text.replace(colorOrControl, (found) =>
    found.length > 1 || /[\n\r\t]/.test(found) ? found : showControl(found),
  );
}

/** The same JSON, safe to be shown on a terminal. */
export function showJson(json: string): string {
  return json.replace(controlsInJson, (found) => `\\u${hex(found, 4)}`);
}

function showControl(found: string): string {
  return names[found] ?? (found > '\u00ff' ? `\\u${hex(found, 4)}` : `\\x${hex(found, 2)}`);
}

function hex(found: string, digits: number): string {
  return found.charCodeAt(0).toString(16).padStart(digits, '0');
}
