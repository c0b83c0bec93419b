import type { Duration } from '@mutirao/core/shared';

/** A request without a limit counts as one of this length. */
export const unlimitedWalltime: Duration = 366 * 86_400_000;
