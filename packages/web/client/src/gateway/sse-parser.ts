/** A message of a stream of server-sent events. */
export interface StreamPiece {
  readonly id: string;
  readonly event: string;
  readonly data: string;
}

/** Reads server-sent events from chunks of text, however they are cut. */
export class SseParser {
  #rest = '';
  #id = '';
  #event = '';
  #data: string[] = [];

  /** @returns the messages that the chunk completes; comments and `retry` are skipped. */
  read(chunk: string): StreamPiece[] {
    const lines = (this.#rest + chunk).split('\n');
    this.#rest = lines.pop() ?? '';
    const pieces: StreamPiece[] = [];
    for (const line of lines) {
      const piece = this.#take(line.endsWith('\r') ? line.slice(0, -1) : line);
      if (piece !== undefined) pieces.push(piece);
    }
    return pieces;
  }

  #take(line: string): StreamPiece | undefined {
    if (line === '') return this.#complete();
    const colon = line.indexOf(':');
    const field = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (field === 'data') this.#data.push(value);
    else if (field === 'event') this.#event = value;
    else if (field === 'id') this.#id = value;
    return undefined;
  }

  #complete(): StreamPiece | undefined {
    const piece =
      this.#data.length === 0 ? undefined : { id: this.#id, event: this.#event, data: this.#data.join('\n') };
    this.#data = [];
    this.#event = '';
    return piece;
  }
}
