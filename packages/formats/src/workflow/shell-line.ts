import { quoteForShell } from '@mutirao/core/bag';

/**
 * Splits text into words as a shell does: at blanks, with quotes and backslashes. Nothing else has a meaning: a
 * variable, a pattern or an operator stands for its own characters.
 */
export class WordSplitter {
  readonly #words: string[] = [];
  #word: string | undefined;
  #quote = '';
  #isEscaped = false;

  /** Takes text in which quotes, blanks and backslashes count. */
  take(text: string): void {
    for (const character of text) this.#takeCharacter(character);
  }

  /** Takes text that stands for itself, whatever it holds; it belongs to the word that it touches. */
  takeLiteral(text: string): void {
    this.#isEscaped = false;
    this.#word = (this.#word ?? '') + text;
  }

  /** The words; undefined where a quote or a backslash is left open. */
  end(): string[] | undefined {
    if (this.#quote !== '' || this.#isEscaped) return undefined;
    this.#endWord();
    return this.#words;
  }

  #takeCharacter(character: string): void {
    if (this.#isEscaped) return this.#escaped(character);
    if (character === '\\' && this.#quote !== "'") {
      this.#isEscaped = true;
      return;
    }
    if (this.#quote !== '') {
      if (character === this.#quote) this.#quote = '';
      else this.takeLiteral(character);
      return;
    }
    if (character === '"' || character === "'") {
      this.#quote = character;
      this.takeLiteral('');
    } else if (/\s/.test(character)) {
      this.#endWord();
    } else {
      this.takeLiteral(character);
    }
  }

  /** Between double quotes a backslash counts only before a few characters, and before a line's end both vanish. */
  #escaped(character: string): void {
    this.#isEscaped = false;
    if (character === '\n') return;
    this.takeLiteral(this.#quote === '"' && !'"\\$`'.includes(character) ? `\\${character}` : character);
  }

  #endWord(): void {
    if (this.#word !== undefined) this.#words.push(this.#word);
    this.#word = undefined;
  }
}

/** The words of a text, as {@link WordSplitter} has it; undefined where a quote is left open. */
export function splitWords(text: string): string[] | undefined {
  const splitter = new WordSplitter();
  splitter.take(text);
  return splitter.end();
}

/** Writes words as a line for the shell that stands for exactly these words. */
export function getLine(words: readonly string[]): string {
  return words.map(quoteForShell).join(' ');
}

/**
 * The words of a command that is a program and its arguments, with nothing that a shell would have to do. Undefined for
 * any other command.
 */
export function findPlainWords(command: string): string[] | undefined {
  const words = splitWords(command);
  const isPlain = /^(?:[A-Za-z0-9@%+:,./_-]|[^\S\n]|'[^']*'|=(?<=\s\S*=))*$/.test(command);
  return words !== undefined && words.length > 0 && isPlain && words[0] !== '' ? words : undefined;
}
