/** The code of a run that was cut by the end of an allocation although it had nearly all of the longest walltime that there is. */
export const walltimeMaxCode = 'MUT_WALLTIME_MAX';
/** Such runs after which a task is given up. */
export const walltimeCutsMax = 2;
