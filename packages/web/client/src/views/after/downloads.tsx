import type { ReactNode } from 'react';
import { getProblem } from '../../gateway/gateway.ts';
import { usePage } from '../../page-context.tsx';

/** Buttons that save a part of what is known of a job. */
export function Downloads({
  jobId,
  what,
  formats,
}: {
  readonly jobId: number;
  readonly what: string;
  readonly formats: readonly string[];
}): ReactNode {
  const { gateway, say } = usePage();
  const save = (format: string): void => {
    gateway.download(jobId, what, format).catch((error: unknown) => say(getProblem(error).message, true));
  };
  return (
    <span className="row">
      <span className="faint">{what}</span>
      {formats.map((format) => (
        <button
          key={format}
          type="button"
          className="small"
          onClick={() => save(format)}
          aria-label={`Download ${what} as ${format.toUpperCase()}`}
        >
          {format.toUpperCase()}
        </button>
      ))}
    </span>
  );
}
