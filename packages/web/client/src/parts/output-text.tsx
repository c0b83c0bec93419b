import { useEffect, useMemo, useRef, type ReactNode } from 'react';
import { parseOutput } from '../model/terminal-text.ts';
import { usePage } from '../page-context.tsx';
import { copyText, describeCopyFault } from './copy-text.ts';

/**
 * The output of a program: its colours are shown, and its text is never taken for markup. The end matters most, so that
 * is in sight at first.
 */
export function OutputText({ text, label }: { readonly text: string; readonly label: string }): ReactNode {
  const { say } = usePage();
  const ref = useRef<HTMLPreElement>(null);
  const pieces = useMemo(() => parseOutput(text), [text]);
  const isAtEnd = useRef(true);
  useEffect(() => {
    // Who has scrolled up reads there.
    if (ref.current !== null && isAtEnd.current) ref.current.scrollTop = ref.current.scrollHeight;
  }, [text]);
  const scroll = (): void => {
    const { scrollTop = 0, scrollHeight = 0, clientHeight = 0 } = ref.current ?? {};
    isAtEnd.current = scrollTop + clientHeight >= scrollHeight - 8;
  };
  const copy = (): void => {
    copyText(Promise.resolve(pieces.map((piece) => piece.text).join(''))).then(
      () => say(`${label} is copied.`),
      (error: unknown) => say(describeCopyFault(error), true),
    );
  };
  return (
    <div className="output">
      <button type="button" className="small" onClick={copy} aria-label={`Copy ${label.toLowerCase()}`}>
        Copy
      </button>
      <pre ref={ref} tabIndex={0} aria-label={label} onScroll={scroll}>
        {pieces.map(({ text: part, className }, index) =>
          className === '' ? (
            part
          ) : (
            <span key={index} className={className}>
              {part}
            </span>
          ),
        )}
      </pre>
    </div>
  );
}
