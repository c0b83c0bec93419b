import type { LiveBytes } from '@mutirao/api/codecs';
import type { Bytes } from '@mutirao/core/shared';

const newline = 0x0a;

/**
 * What follows `offset` of a stream that is on record: at most two pieces, the second where bytes were cut from the
 * middle.
 *
 * @param kept as `KeptStream.bytes` wrote it.
 */
export function restOfOutput(kept: Uint8Array, isCut: boolean, offset: Bytes): LiveBytes[] {
  const pieces = (isCut ? findPieces(kept) : undefined) ?? [{ offset: 0, bytes: kept }];
  return pieces.flatMap((piece) => {
    const skipped = Math.max(0, offset - piece.offset);
    return skipped >= piece.bytes.length
      ? []
      : [{ offset: piece.offset + skipped, bytes: piece.bytes.subarray(skipped) }];
  });
}

/** Head and tail around the line that says what is missing; undefined where there is none whose numbers are right. */
function findPieces(kept: Uint8Array): [LiveBytes, LiveBytes] | undefined {
  const text = Buffer.from(kept.buffer, kept.byteOffset, kept.length).toString('latin1');
  for (const found of text.matchAll(/\[mutirao: (\d{1,15}) of (\d{1,15}) bytes were cut here\]\n/g)) {
    const [line, dropped, written] = [found[0], Number(found[1]), Number(found[2])];
    const tail = kept.subarray(found.index + line.length);
    // A head without an end of line gets one.
    for (const headLength of [found.index, found.index - 1]) {
      if (headLength < 0 || headLength + dropped + tail.length !== written) continue;
      if (headLength < found.index && kept[headLength] !== newline) continue;
      return [
        { offset: 0, bytes: kept.subarray(0, headLength) },
        { offset: written - tail.length, bytes: tail },
      ];
    }
  }
  return undefined;
}
