import type { QueuedRequest } from '@mutirao/core/messages';
import type { Instant } from '@mutirao/core/shared';
import type { JobFiles } from './job-files.ts';

const keptMax = 100;
/** Managers end a job up to this time before its walltime is over, by their own clock. */
const tolerance = 3000;

/**
 * The provider's jobs that ended, for a manager that forgets them at once.
 *
 * Jobs note how they ended in a file (`JOB BEGAN ENDED STATUS` and `endingFacts`). A killed job does not; the last
 * listings say what is known of it. Files outlive the provider.
 */
export class EndedJobs {
  readonly #files: JobFiles;
  readonly #user: string;
  #alive = new Map<string, QueuedRequest>();
  readonly #ended = new Map<string, QueuedRequest>();
  #released = new Set<string>();

  constructor(files: JobFiles, user: string) {
    this.#files = files;
    this.#user = user;
  }

  /** Notes that a job was released here, and did not end by itself. */
  noteRelease(id: string): void {
    this.#released.add(id);
  }

  /** Keys of the jobs that waited or ran at the last listing. */
  get aliveKeys(): ReadonlySet<string> {
    return new Set([...this.#alive.values()].map(({ clientRequestId }) => clientRequestId));
  }

  /** Compares a listing of the provider's jobs with the one before. @returns those that ended, newest first. */
  follow(alive: readonly QueuedRequest[], at: Instant): readonly QueuedRequest[] {
    const now = new Map(alive.map((request) => [request.managerRequestId, request]));
    const noted = this.#readEndings(at);
    for (const [id, request] of this.#alive) if (!noted.has(id)) noted.set(id, this.#withoutNote(request, at));
    for (const [id, request] of noted) if (!this.#ended.has(id)) this.#ended.set(id, request);
    for (const id of now.keys()) this.#ended.delete(id);
    for (const id of [...this.#ended.keys()].slice(0, -keptMax)) this.#ended.delete(id);
    this.#released = new Set([...this.#released].filter((id) => now.has(id)));
    this.#alive = now;
    return [...this.#ended.values()].sort((one, other) => other.endedAt - one.endedAt);
  }

  #withoutNote(request: QueuedRequest, at: Instant): QueuedRequest {
    const isOverdue =
      request.startsAt > 0 && request.status === 'running' && at >= request.startsAt + request.walltime - tolerance;
    const reason = this.#released.has(request.managerRequestId)
      ? 'CANCELLED'
      : isOverdue
        ? 'MUT_WALLTIME_ENDED'
        : 'KILLED';
    const startsAt = request.status === 'running' ? request.startsAt : 0;
    return ended(request, {
      startsAt,
      endedAt: Math.max(startsAt, at),
      endReason: reason,
    });
  }

  #readEndings(at: Instant): Map<string, QueuedRequest> {
    const noted = new Map<string, QueuedRequest>();
    for (const [key, text] of this.#files.endings()) {
      const match = /^(\d{1,15}) (\d{9,11}) (\d{9,11}) (\d{1,3}) (\d{1,9}) (\d{1,15}) (\d{1,15})\n$/.exec(text);
      if (match === null) continue; // It is being written, or is not ours.
      const [id = '', began, end, status, width, walltime, submitted] = match.slice(1);
      const request: QueuedRequest = {
        managerRequestId: id,
        userId: this.#user,
        width: Number(width),
        walltime: Number(walltime),
        status: 'ended',
        submittedAt: Number(submitted),
        startsAt: Number(began) * 1000,
        // The clocks of the node and of this machine differ.
        endedAt: Math.max(Number(began) * 1000, Math.min(at, Number(end) * 1000)),
        endReason: '',
        clientRequestId: key,
      };
      noted.set(id, { ...request, endReason: this.#getReason(key, Number(status)) });
    }
    return noted;
  }

  #getReason(key: string, status: number): string {
    if (status === 0) return 'COMPLETED';
    const words = this.#files.lastWords(key);
    return `FAILED, exit status ${status}${words === '' ? '' : `: ${words}`}`;
  }
}

/** Facts that a job notes of itself, in addition to its number, times and status. */
export function endingFacts({ width, walltime }: Pick<QueuedRequest, 'width' | 'walltime'>, now: Instant): string {
  return `${width} ${walltime} ${now}`;
}

function ended(
  request: QueuedRequest,
  ending: Pick<QueuedRequest, 'startsAt' | 'endedAt' | 'endReason'>,
): QueuedRequest {
  const { isHeldBack: _isHeldBack, ...rest } = request;
  return { ...rest, status: 'ended', ...ending };
}
