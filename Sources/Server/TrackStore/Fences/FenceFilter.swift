/// Which fences of a service are meant; all conditions must hold.
package struct FenceFilter: Hashable, Sendable {
    package enum Watch: Hashable, Sendable {
        /// Whomever the fence watches.
        case any
        case nobody
        /// One entity or more, by name.
        case named
        /// More than one entity, by name.
        case several
        case everyone
        /// This entity alone.
        case only(String)
        /// This entity by name, alone or with others.
        case naming(String)
        /// This entity: by name, or because the fence watches everyone.
        case watching(String)
    }

    /// Who made the fence.
    package enum Maker: Hashable, Sendable {
        case anyone
        /// The vehicle with this name, through its session.
        case vehicle(String)
        /// The operator, or another vehicle than this one.
        case otherThan(String)
    }

    /// Nil: any number. Unknown numbers match nothing. At most ``FenceRules/mostNumbers`` different ones.
    package var fences: [Int32]?
    package var watch: Watch
    /// Only fences with a greater number.
    package var after: Int32
    package var maker: Maker

    package init(fences: [Int32]? = nil, watch: Watch = .any, after: Int32 = 0, maker: Maker = .anyone) {
        self.fences = fences
        self.watch = watch
        self.after = after
        self.maker = maker
    }
}
