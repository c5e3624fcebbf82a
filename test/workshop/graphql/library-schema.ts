/** A schema with everything that a tool has to express: written for these tests. */
export const LIBRARY_SDL = `"""A lending library."""
schema {
  query: Query
  mutation: Mutation
  subscription: Subscription
}

scalar DateTime @specifiedBy(url: "https://datatracker.ietf.org/doc/html/rfc3339")
scalar Date
scalar JSON
scalar BigInt
scalar ShelfMark

directive @cost(weight: Int) on FIELD_DEFINITION

"Whether a copy is there."
enum Availability {
  "On the shelf."
  IN
  "Lent to a member."
  OUT
  LOST @deprecated(reason: "No longer counted.")
}

interface Medium {
  id: ID!
  title: String!
  addedAt: DateTime
}

"""
A book.
Every copy has its own shelf mark.
"""
type Book implements Medium {
  id: ID!
  "As on the cover."
  title: String!
  addedAt: DateTime
  pages: Int
  weight: Float
  "Without dots."
  shelfMark: ShelfMark
  isbn: String @deprecated(reason: "Use identifiers.")
  authors: [Author!]!
  tags: [String]!
  grid: [[Int!]!]
  copies(atBranch: ID!): [Copy!]!
  related(first: Int): BookConnection!
  sequel: Book
  price: Money
}

type Film implements Medium {
  id: ID!
  title: String!
  addedAt: DateTime
  minutes: Int!
  pages: String
  director: Author
  price: Float
}

type Money { amount: Float! currency: String! }
type Copy { id: ID! availability: Availability! }

type Author {
  id: ID!
  name: String!
  born: Date
  books: [Book!]!
}

union Found = Book | Film | Author

type PageInfo { hasNextPage: Boolean! endCursor: String }
type BookEdge { cursor: String! node: Book }
type BookConnection { edges: [BookEdge] pageInfo: PageInfo! totalCount: Int! }

input Period { from: Date! until: Date }

input Filter {
  text: String
  availability: [Availability!] = [IN]
  period: Period
  "All of them."
  and: [Filter!]
  not: Filter
}

input Key @oneOf { id: ID isbn: String mark: Period }

input NewBook {
  title: String!
  pages: Int = 1
  authors: [ID!]!
  extra: JSON
  serial: BigInt
  oldName: String @deprecated(reason: "Use title.")
}

type LendResult { book: Book until: DateTime! problems: [String!] }

type Query {
  "One book by its id."
  book(id: ID!): Book
  books("How many." first: Int! = 2, after: String, filter: Filter): BookConnection!
  search(text: String!, limit: Int = 10): [Found!]!
  media: [Medium]
  byKey(key: Key!): Book
  count(filter: Filter): Int!
  settings: JSON
  serial: BigInt!
  availabilities: [Availability!]!
  "Needs more than this schema says."
  errors: [String]
  nothing: Nothing
  _service: String
}

type Nothing { needs(argument: Int!): String }

type Mutation {
  addBook(book: NewBook!): Book! @cost(weight: 5)
  lend(book: ID!, member: ID!): LendResult
  removeBook(id: ID!): Boolean!
  authorDelete(id: ID!): ID
  cover(file: Upload!): Boolean
}

scalar Upload

type Subscription { lent: Book! }
`;
