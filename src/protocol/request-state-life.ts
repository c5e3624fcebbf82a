/**
 * How long the servers of this package take back a request state, and how long the command line keeps the call that waits
 * with it: one number, so that neither promises what the other does not keep.
 */
export const REQUEST_STATE_HOURS = 24;
