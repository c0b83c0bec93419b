/**
 * Puts a text that is still to come onto the clipboard. Browsers let only an answer to a click do that, and some only
 * where the clipboard is asked before the text is there.
 */
export async function copyText(text: Promise<string>): Promise<void> {
  if (typeof ClipboardItem === 'undefined') {
    await navigator.clipboard.writeText(await text);
    return;
  }
  await navigator.clipboard.write([
    new ClipboardItem({ 'text/plain': text.then((words) => new Blob([words], { type: 'text/plain' })) }),
  ]);
  // Throws the error of a text that did not come.
  await text;
}

/** Why nothing was copied, as a sentence. */
export function describeCopyFault(error: unknown): string {
  return error instanceof DOMException
    ? 'The browser did not let it be copied.'
    : `Nothing was copied: ${error instanceof Error ? error.message : String(error)}`;
}
