/** The member of a bundled document that has the other files, by their paths from the folder of the document. */
export const BUNDLED_FILES = "x-nexus-files";
